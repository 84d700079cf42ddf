/* Workers that have hardly any stack. */
#include "verify.h"

int main(void) {
    long total = 0;
    for (int step = 0; step < 60; step++) {
#pragma omp parallel for reduction(+ : total)
        for (int i = 0; i < 200; i++) total += i;
    }
    printf("%ld\n", total);
}
