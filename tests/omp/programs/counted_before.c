/* A count of threads taken in one region, and work parted by it in the next. */
#include "verify.h"
#include <omp.h>

enum { LENGTH = 420, STEPS = 80 };
static int seen[LENGTH];

int main(void) {
    int threads = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel
#pragma omp master
        threads = omp_get_num_threads();
#pragma omp parallel
        {
            int me = omp_get_thread_num();
            for (int i = LENGTH * me / threads; i < LENGTH * (me + 1) / threads; i++) seen[i]++;
        }
    }
    for (int i = 0; i < LENGTH; i++) VERIFY(seen[i] == STEPS);
    printf("%d threads, %d\n", threads, seen[0]);
}
