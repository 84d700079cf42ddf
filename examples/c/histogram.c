/* A histogram with a planted fault: all threads enter one critical section for each value. */
#include <stdio.h>
#include <stdlib.h>

enum { VALUES = 1 << 20, BINS = 64 };

static unsigned values[VALUES];
static long bins[BINS];

static void draw(unsigned seed) {
#pragma omp parallel for
    for (int at = 0; at < VALUES; at++) {
        unsigned value = at * 2654435761u + seed;
        for (int round = 0; round < 8; round++) value = value * 1664525u + 1013904223u;
        values[at] = value;
    }
}

static void count(void) {
#pragma omp parallel for
    for (int at = 0; at < VALUES / 16; at++) {
#pragma omp critical(bin)
        bins[values[at] % BINS]++;
    }
}

int main(int words, char **word) {
    int steps = words > 1 ? atoi(word[1]) : 50;
    for (int step = 0; step < steps; step++) {
        draw(step);
        count();
    }
    long sum = 0;
    for (int bin = 0; bin < BINS; bin++) sum += bins[bin];
    printf("%ld values in %d bins\n", sum, BINS);
}
