/* The system's view of where each thread may run, before, between and after regions. */
#define _GNU_SOURCE
#include "verify.h"
#include <omp.h>
#include <sched.h>

static int allowed(void) {
    cpu_set_t set;
    VERIFY(sched_getaffinity(0, sizeof set, &set) == 0);
    return CPU_COUNT(&set);
}

int main(void) {
    int before = allowed();
    long sum = 0;
    for (int step = 0; step < 50; step++) {
        int fewest = 1 << 20;
#pragma omp parallel reduction(min : fewest) reduction(+ : sum)
        {
            int mine = allowed();
            if (mine < fewest) fewest = mine;
#pragma omp for
            for (int i = 0; i < 1000; i++) sum += i;
        }
        VERIFY(fewest == before && allowed() == before);
    }
    printf("%ld\n", sum);
}
