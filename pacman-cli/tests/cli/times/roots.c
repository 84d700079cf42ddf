/* Two threads of the program start regions at the same time, and one region in each a second one. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *starts(void *unused) {
    for (int execution = 0; execution < 5; execution++) {
#pragma omp parallel num_threads(2)
        usleep(20000);
    }
    return unused;
}

int main(void) {
    pthread_t other;
    if (pthread_create(&other, NULL, starts, NULL)) return 1;
    starts(NULL);
    return pthread_join(other, NULL);
}
