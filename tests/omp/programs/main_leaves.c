/* The main thread ends by pthread_exit after its regions; another goes on and ends the program. */
#include "verify.h"
#include <pthread.h>

static pthread_t first;

static long work(int steps) {
    long sum = 0;
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 300; i++) sum += i;
    }
    return sum;
}

static void *second(void *unused) {
    (void)unused;
    void *result;
    VERIFY(pthread_join(first, &result) == 0);
    printf("second %ld\n", work(30));
    exit(6);
}

int main(void) {
    first = pthread_self();
    printf("first %ld\n", work(20));
    pthread_t thread;
    VERIFY(pthread_create(&thread, NULL, second, NULL) == 0);
    pthread_exit(NULL);
}
