/* The same array made once: two regions fill it by turns, and all of it is summed each time. */
#include "verify.h"
#include <omp.h>

enum { LENGTH = 400, STEPS = 100 };
static double *partial;

int main(void) {
    int threads = omp_get_max_threads();
    partial = calloc(threads, sizeof *partial);
    double total = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel
        {
            double mine = 0;
#pragma omp for nowait
            for (int i = 0; i < LENGTH; i++) mine += i;
            partial[omp_get_thread_num()] = mine;
        }
        for (int thread = 0; thread < threads; thread++) total += partial[thread];
#pragma omp parallel
        {
            double least = 1e9;
#pragma omp for nowait
            for (int i = 0; i < LENGTH; i++) least = i + step < least ? i + step : least;
            partial[omp_get_thread_num()] = least;
        }
        for (int thread = 0; thread < threads; thread++) total += partial[thread];
    }
    VERIFY(total >= STEPS * 79800.0);
    printf("%.1f\n", total);
}
