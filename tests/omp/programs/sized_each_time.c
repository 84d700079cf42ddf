/* An array with an entry for each thread, made anew for every region. */
#include "verify.h"
#include <omp.h>

enum { LENGTH = 400, STEPS = 80 };

int main(void) {
    double total = 0;
    for (int step = 0; step < STEPS; step++) {
        int threads = omp_get_max_threads();
        double *partial = malloc(threads * sizeof *partial);
        for (int thread = 0; thread < threads; thread++) partial[thread] = -1e6;
#pragma omp parallel
        {
            double mine = 0;
#pragma omp for nowait
            for (int i = 0; i < LENGTH; i++) mine += i + step;
            partial[omp_get_thread_num()] = mine;
        }
        for (int thread = 0; thread < threads; thread++) total += partial[thread];
        free(partial);
    }
    VERIFY(total == 80.0 * 79800 + 400.0 * 3160);
    printf("%.1f\n", total);
}
