/* Two phases by turns: one gains from every thread, one only waits for its lock with more of them.
 *
 * usage: two_phases [executions of each]   Results on standard output, seconds on standard error. */
#include "verify.h"
#include <omp.h>

enum { CELLS = 4096, PASSES = 100, TURNS = 3000, FEW = 60 };
static double cell[CELLS];
/* Where others want the processors as well, each turn may take a time slice of theirs. */
static int turns = FEW;

static void scalable(void) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < CELLS; i++) {
        double value = cell[i];
        for (int pass = 0; pass < PASSES; pass++) value = value * 0.999 + 0.001 * i;
        cell[i] = value;
    }
}

/* A short critical section in every iteration: it changes hands, and with it the cache line. */
static long contended(void) {
    static volatile long counter;
    counter = 0;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < turns; i++) {
#pragma omp critical
        for (int j = 0; j < 40; j++) counter += i & j;
    }
    return counter;
}

int main(int count, char **arguments) {
    int executions = count > 1 ? atoi(arguments[1]) : 40;
    if (count > 1) turns = TURNS;
    long sum = 0;
    double begin = omp_get_wtime();
    for (int execution = 0; execution < executions; execution++) {
        scalable();
        sum += contended();
    }
    if (count > 1) fprintf(stderr, "%.3f\n", omp_get_wtime() - begin);
    double total = 0;
    for (int i = 0; i < CELLS; i++) total += cell[i];
    printf("%.17g %ld\n", total, sum);
}
