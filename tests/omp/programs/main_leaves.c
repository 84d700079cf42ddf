/* The main thread ends by pthread_exit after its regions; another goes on and ends the program. */
#include "sums.h"
#include "verify.h"
#include <pthread.h>

static pthread_t first;

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
