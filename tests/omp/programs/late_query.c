/* A region that asks for its thread's number only after many executions, when what each
 * entry held before still counts. */
#include "verify.h"
#include <omp.h>

enum { STEPS = 200, LATE = 150 };
static long partial[64], sink;

int main(void) {
    int threads = 0;
    long total = 0;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    for (int step = 0; step < STEPS; step++) {
        for (int thread = 0; thread < threads; thread++) partial[thread] = 1000000;
#pragma omp parallel
        {
            long mine = 0;
#pragma omp for nowait
            for (int i = 0; i < 500; i++) mine += i;
            if (step < LATE) {
#pragma omp atomic
                sink += mine;
            } else {
                partial[omp_get_thread_num()] = mine;
            }
        }
        if (step >= LATE)
            for (int thread = 0; thread < threads; thread++) total += partial[thread];
    }
    printf("%ld %ld\n", sink, total);
    VERIFY(total == (STEPS - LATE) * 124750L);
}
