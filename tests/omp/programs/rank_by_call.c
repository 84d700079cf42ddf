/* As sized_once, with the thread's number asked for in a function that the body calls through a pointer. */
#include "verify.h"
#include <omp.h>

enum { STEPS = 100 };
static long partial[64];

__attribute__((noinline)) static int rank(void) { return omp_get_thread_num(); }
static int (*volatile who)(void) = rank;

int main(void) {
    int threads = 0;
    long total = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for schedule(static, 1)
        for (int thread = 0; thread < threads; thread++) partial[who()] = step + thread;
        for (int thread = 0; thread < threads; thread++) total += partial[thread];
    }
    VERIFY(total == threads * 4950L + STEPS * (threads * (threads - 1L) / 2));
    printf("%ld\n", total);
}
