/* Forks again and again while other threads come, run a region, and go; the children just exit. */
#include "sums.h"
#include "verify.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int forks;

static void *visitor(void *unused) {
    (void)unused;
#pragma omp parallel num_threads(1)
    work(1);
    return NULL;
}

/* As long as there are forks, threads that run their first region, and end. */
static void *crowd(void *unused) {
    (void)unused;
    while (atomic_load(&forks) < 60) {
        pthread_t one;
        VERIFY(pthread_create(&one, NULL, visitor, NULL) == 0 && pthread_join(one, NULL) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t crowds[3];
    work(3);
    for (int i = 0; i < 3; i++) VERIFY(pthread_create(&crowds[i], NULL, crowd, NULL) == 0);
    for (; atomic_load(&forks) < 60; atomic_fetch_add(&forks, 1)) {
        pid_t child = fork();
        VERIFY(child >= 0);
        if (child == 0) _exit(7);
        int status = 0;
        VERIFY(waitpid(child, &status, 0) == child && WIFEXITED(status));
        VERIFY(WEXITSTATUS(status) == 7);
    }
    for (int i = 0; i < 3; i++) VERIFY(pthread_join(crowds[i], NULL) == 0);
    printf("%d forks\n", atomic_load(&forks));
    return 0;
}
