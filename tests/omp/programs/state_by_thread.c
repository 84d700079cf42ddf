/* An entry of a fixed array for each thread, filled by one region and gone on with by another:
 * both ask for their number and for how many there are. */
#include "verify.h"
#include <omp.h>

enum { MOST = 64, LENGTH = 960, STEPS = 150 };
static long state[MOST];

int main(void) {
    int threads = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel
        {
            int me = omp_get_thread_num(), all = omp_get_num_threads();
            state[me] = step;
            if (me == 0) threads = all;
        }
#pragma omp parallel
        {
            int me = omp_get_thread_num(), all = omp_get_num_threads();
            for (int i = LENGTH * me / all; i < LENGTH * (me + 1) / all; i++) state[me] += i % 7;
        }
        long sum = 0;
        for (int thread = 0; thread < threads; thread++) sum += state[thread];
        VERIFY(sum == (long)threads * step + 2877);
    }
    long sum = 0;
    for (int thread = 0; thread < MOST; thread++) sum += state[thread] * (thread + 1);
    printf("%d %ld\n", threads, sum);
}
