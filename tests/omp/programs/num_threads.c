/* Teams of the sizes that the program asks for, by clause and by call. */
#include "verify.h"
#include <omp.h>

enum { STEPS = 12 };

int main(void) {
    omp_set_dynamic(0);
    int before = omp_get_max_threads();
    long total = 0;
    for (int step = 0; step < STEPS; step++)
        for (int wanted = 1; wanted <= 5; wanted++) {
            int clause = 0, call = 0;
#pragma omp parallel num_threads(wanted)
            {
#pragma omp single
                clause = omp_get_num_threads();
#pragma omp atomic
                total += omp_get_thread_num();
            }
            omp_set_num_threads(wanted);
#pragma omp parallel
#pragma omp master
            call = omp_get_num_threads();
            VERIFY(clause == wanted && call == wanted && omp_get_max_threads() == wanted);
        }
    omp_set_num_threads(before);
    int size = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    VERIFY(size == before);
    printf("%ld %d\n", total, size);
}
