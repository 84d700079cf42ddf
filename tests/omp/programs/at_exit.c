/* Regions in handlers that run at exit. */
#include "verify.h"

static long work(int steps) {
    long sum = 0;
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 300; i++) sum += i;
    }
    return sum;
}

static void first(void) { printf("first %ld\n", work(10)); }
static void second(void) { printf("second %ld\n", work(20)); }

int main(void) {
    atexit(first);
    printf("main %ld\n", work(20));
    atexit(second);
    return 2;
}
