/* 100,000 short regions. Every 16th is longer than the others and waits for a lock: a fixed stride would
   see all of these or none. The program times each execution itself, inside of the region. It ends by _exit, so that nothing of the library runs at its end. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double values[64], seconds;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void tiny(int rounds) {
#pragma omp parallel
    {
        double begun = now();
        for (int round = 0; round < rounds; round++)
            for (int at = 0; at < 64; at++) values[at] = values[at] * 0.5 + round;
#pragma omp critical(always)
        values[0] += 1.0;
        if (rounds > 200) {
#pragma omp critical(rarely)
            values[1] += 1.0;
        }
        seconds += now() - begun;
    }
}

static void rare(void) {
#pragma omp parallel
    values[0] += 1.0;
}

static void *other(void *nothing) {
#pragma omp parallel
    values[2] += 1.0;
    return nothing;
}

int main(void) {
    /* Another thread that starts regions may have the locks, so that their calls count as waits. */
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    for (int execution = 0; execution < 100000; execution++) {
        tiny(execution % 16 == 0 ? 600 : 200);
        if (execution % 5000 == 0) rare();
    }
    printf("%.9f\n", seconds);
    fflush(stdout);
    _exit(values[0] < 0.0);
}
