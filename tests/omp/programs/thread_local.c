/* A thread's own variable, without a threadprivate directive, that a function in a region keeps. */
#include "verify.h"

enum { STEPS = 100 };
static _Thread_local long kept;

__attribute__((noinline)) static void keep(long value) { kept += value; }

int main(void) {
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 64; i++) keep(i);
    }
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += kept;
    VERIFY(sum == 2016L * STEPS);
    printf("%ld\n", sum);
}
