/* The three ways of binding, with places as the environment gives them. */
#include "verify.h"
#include <omp.h>

enum { STEPS = 30 };

int main(void) {
    long sum = 0;
    int places = omp_get_num_places(), outside = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel proc_bind(close) reduction(+ : sum, outside)
        {
            sum += omp_get_proc_bind() == omp_proc_bind_close;
            outside += omp_get_place_num() >= places;
        }
#pragma omp parallel proc_bind(spread) reduction(+ : sum, outside)
        {
            sum += omp_get_proc_bind() == omp_proc_bind_spread;
            outside += omp_get_partition_num_places() > places;
        }
#pragma omp parallel for proc_bind(master) reduction(+ : sum)
        for (int i = 0; i < 50; i++) sum += i;
    }
    VERIFY(outside == 0);
    printf("%d %ld %d\n", places, sum, omp_get_proc_bind());
}
