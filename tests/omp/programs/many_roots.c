/* Several threads that each run regions of their own at the same time, and end before the program. */
#include "verify.h"
#include <pthread.h>

enum { ROOTS = 3, STEPS = 25 };

static void *root(void *given) {
    long factor = (long)given, sum = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 400; i++) sum += factor * i;
#pragma omp parallel
#pragma omp single
        sum++;
    }
    return (void *)sum;
}

int main(void) {
    for (int round = 0; round < 2; round++) {
        pthread_t threads[ROOTS];
        long total = (long)root((void *)1L);
        for (long i = 0; i < ROOTS; i++) VERIFY(pthread_create(&threads[i], NULL, root, (void *)(i + 2)) == 0);
        total += (long)root((void *)1L);
        for (int i = 0; i < ROOTS; i++) {
            void *sum;
            pthread_join(threads[i], &sum);
            total += (long)sum;
        }
        VERIFY(total == 11L * STEPS * 79800 + 5 * STEPS);
        printf("%ld\n", total);
    }
}
