/* A random walk of each thread, seeded by its number and strided by their count: what is printed
 * depends on how many there are. */
#include "verify.h"
#include <omp.h>

enum { POINTS = 2000, STEPS = 200 };

int main(void) {
    long inside = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel reduction(+ : inside)
        {
            int me = omp_get_thread_num(), all = omp_get_num_threads();
            unsigned seed = 17 * me + 1;
            for (int i = me; i < POINTS; i += all) {
                seed = seed * 1664525 + 1013904223;
                unsigned x = seed >> 16;
                seed = seed * 1664525 + 1013904223;
                unsigned y = seed >> 16;
                inside += (unsigned long)x * x + (unsigned long)y * y < 65536UL * 65536;
            }
        }
    }
    printf("%ld of %d\n", inside, POINTS * STEPS);
}
