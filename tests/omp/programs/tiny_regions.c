/* 20,000 regions with next to nothing in them. */
#include "verify.h"

int main(void) {
    long sum = 0;
    for (int step = 0; step < 20000; step++) {
#pragma omp parallel
#pragma omp master
        sum += step;
    }
    printf("%ld\n", sum);
}
