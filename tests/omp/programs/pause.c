/* Gives the runtime's threads back between phases, and begins again. */
#include "verify.h"
#include <omp.h>

int main(void) {
    long sum = 0;
    int paused = 0;
    for (int phase = 0; phase < 5; phase++) {
        for (int step = 0; step < 15; step++) {
#pragma omp parallel for reduction(+ : sum)
            for (int i = 0; i < 300; i++) sum += i;
        }
        paused += omp_pause_resource_all(omp_pause_soft) == 0;
    }
    printf("%ld %d\n", sum, paused);
}
