/* Regions inside of themselves, on the thread that starts them and on others, directly and through another region. Each
   innermost body sleeps for 20 ms. Prints the seconds in regions. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void direct(int depth) {
#pragma omp parallel num_threads(1)
    {
        if (depth > 0) direct(depth - 1);
        else usleep(20000);
    }
}

/* The second thread goes on, in a team whose second thread goes on. */
static void others(int depth) {
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) {
            if (depth > 0) others(depth - 1);
            else usleep(20000);
        }
    }
}

static void pong(int depth);

static void ping(int depth) {
#pragma omp parallel num_threads(1)
    {
        if (depth > 0) pong(depth - 1);
        else usleep(20000);
    }
}

static void pong(int depth) {
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) ping(depth);
    }
}

/* Within another region, and most executions are short and without any inside. */
static void short_first(int depth) {
#pragma omp parallel num_threads(1)
    {
        if (depth > 1) short_first(depth - 1);
        if (depth == 1) usleep(20000);
    }
}

int main(void) {
    omp_set_max_active_levels(16);
    double from = now();
    for (int round = 0; round < 3; round++) direct(7);
    double until = now();
    others(4);
    ping(3);
    pong(2);
    double after = now();
    for (int execution = 0; execution < 20000; execution++) short_first(0);
    short_first(6);
    printf("%.6f %.6f\n", until - from, after - from);
    return 0;
}
