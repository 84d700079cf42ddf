/* Threads started by members of a team, which run regions while the outer one lasts. */
#include "verify.h"
#include <pthread.h>

static void *root(void *unused) {
    (void)unused;
    long sum = 0;
    for (int step = 0; step < 5; step++) {
#pragma omp parallel for reduction(+ : sum) num_threads(2)
        for (int i = 0; i < 100; i++) sum += i;
    }
    return (void *)sum;
}

int main(void) {
    long total = 0;
    for (int round = 0; round < 8; round++) {
#pragma omp parallel num_threads(2) reduction(+ : total)
        {
            pthread_t thread;
            void *sum;
            VERIFY(pthread_create(&thread, NULL, root, NULL) == 0);
            pthread_join(thread, &sum);
            total += (long)sum;
        }
    }
    printf("%ld\n", total);
}
