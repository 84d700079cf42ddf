/* Says once how many threads there are to be. What it keeps for each of them it finds by its number, in
   regions that ask for that: those must have all of them. */
#include "verify.h"
#include <omp.h>

enum { MOST = 64, LENGTH = 6400 };
static int cells[LENGTH];

int main(void) {
    int threads = getenv("OMP_NUM_THREADS") ? atoi(getenv("OMP_NUM_THREADS")) : 1;
    long partial[MOST] = {0}, whole = 0;
    omp_set_num_threads(threads);
    for (int step = 0; step < 60; step++) {
#pragma omp parallel for schedule(dynamic, 100)
        for (int i = 0; i < LENGTH; i++) cells[i] = i + step;
        omp_set_num_threads(threads);
#pragma omp parallel
        {
            long own = 0;
#pragma omp for nowait
            for (int i = 0; i < LENGTH; i++) own += cells[i];
            /* Nobody clears what a thread that is not there has left. */
            if (step > 0) partial[omp_get_thread_num()] = own;
        }
        long sum = 0;
        for (int thread = 0; thread < threads; thread++) sum += partial[thread];
        VERIFY(step == 0 || sum == LENGTH * (LENGTH - 1L) / 2 + (long)LENGTH * step);
        whole += sum;
    }
    printf("%ld\n", whole);
}
