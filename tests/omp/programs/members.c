/* Regions that share no work out: each member of the team adds one, without asking who it is. */
#include "verify.h"

enum { STEPS = 300 };

int main(void) {
    long first = 0, second = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel
#pragma omp atomic
        first++;
#pragma omp parallel reduction(+ : second)
        for (int i = 0; i < 200; i++) second += i % 2;
    }
    VERIFY(second == 100 * first);
    printf("%ld %ld\n", first, second);
}
