/* For thread_of_plugin: waits for a thread as it is loaded. */
#include <pthread.h>

long sum;

static void *work(void *nothing) {
    for (int step = 0; step < 30; step++) {
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : sum)
        for (int i = 0; i < 200; i++) sum++;
    }
    return nothing;
}

__attribute__((constructor)) static void begin(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
