/* Regions that are parallel only if something holds. */
#include "verify.h"
#include <omp.h>

enum { STEPS = 60 };

int main(void) {
    long sum = 0;
    int alone = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel if (step % 3 == 0) reduction(+ : sum)
        {
            if (step % 3) {
                VERIFY(omp_get_num_threads() == 1 && !omp_in_parallel());
#pragma omp atomic
                alone++;
            }
#pragma omp for
            for (int i = 0; i < 100; i++) sum += i;
        }
#pragma omp parallel for if (parallel : step % 2) reduction(+ : sum)
        for (int i = 0; i < 100; i++) sum += i;
    }
    printf("%ld %d\n", sum, alone);
}
