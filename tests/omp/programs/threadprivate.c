/* Values of each thread that outlive regions, and copies of the master's. */
#include "verify.h"
#include <omp.h>

enum { STEPS = 80 };
static int runs, seed = 7;
#pragma omp threadprivate(runs, seed)

int main(void) {
    int threads = omp_get_max_threads();
#pragma omp parallel
    runs = 0;
    for (int step = 0; step < STEPS; step++) {
        seed = step;
#pragma omp parallel copyin(seed)
        {
            VERIFY(seed == step);
            runs += seed % 5;
        }
#pragma omp parallel
        seed += runs;
    }
    long total = 0, seeds = 0;
#pragma omp parallel reduction(+ : total, seeds)
    {
        total += runs;
        seeds += seed;
    }
    VERIFY(total == 160L * threads);
    printf("%ld %ld\n", total, seeds);
}
