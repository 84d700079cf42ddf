/* Regions inside regions, one active level: the inner ones are serial, to any depth. */
#include "verify.h"
#include <omp.h>

static long count(int depth) {
    if (depth == 0) return 1;
    long sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        VERIFY(omp_get_level() == 4 - depth);
        VERIFY(depth == 3 || omp_get_num_threads() == 1);
        sum += count(depth - 1);
    }
    return sum;
}

int main(void) {
    omp_set_max_active_levels(1);
    long total = 0;
    for (int step = 0; step < 40; step++) total += count(3);
    printf("%ld\n", total);
}
