/* Ends inside a region, on the thread that began it. */
#include "verify.h"
#include <omp.h>

static void goodbye(void) { printf("goodbye\n"); }

int main(void) {
    atexit(goodbye);
    long sum = 0;
    for (int step = 0; step < 30; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 300; i++) sum += i;
    }
    printf("%ld\n", sum);
#pragma omp parallel
    {
#pragma omp barrier
        if (omp_get_thread_num() == 0) exit(3);
#pragma omp barrier
    }
    return 9;
}
