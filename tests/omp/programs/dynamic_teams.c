/* The runtime may choose smaller teams itself. */
#include "verify.h"
#include <omp.h>

int main(void) {
    omp_set_dynamic(1);
    long sum = 0;
    int most = omp_get_max_threads(), dynamic = omp_get_dynamic();
    for (int step = 0; step < 60; step++) {
        int size = 0;
#pragma omp parallel reduction(+ : sum)
        {
#pragma omp single
            size = omp_get_num_threads();
#pragma omp for
            for (int i = 0; i < 300; i++) sum += i;
        }
        VERIFY(size >= 1 && size <= most);
    }
    printf("%ld %d %d\n", sum, dynamic, most);
}
