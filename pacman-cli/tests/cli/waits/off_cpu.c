/* Regions with work that loses its processor, and with a wait that blocks. The program measures the time
   in which each thread had work and no processor: wall time minus processor time of the work. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Works for so long on a processor; answers how long it had none. */
static double work(double length) {
    double wall = seconds(CLOCK_MONOTONIC), begun = seconds(CLOCK_THREAD_CPUTIME_ID), now;
    while ((now = seconds(CLOCK_THREAD_CPUTIME_ID)) - begun < length) {
    }
    return seconds(CLOCK_MONOTONIC) - wall - (now - begun);
}

static void shared(void) {
#pragma omp parallel num_threads(1)
    {
        double off = work(0.1);
        printf("shared 0 %.6f\n", off);
    }
}

static void blocked(void) {
    double off[2] = {0, 0};
#pragma omp parallel num_threads(2)
    {
        int thread = omp_get_thread_num();
        if (thread == 1) off[1] = work(0.1);
#pragma omp barrier
    }
    printf("blocked 0 %.6f\nblocked 1 %.6f\n", off[0], off[1]);
}

int main(void) {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all)) cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t other = fork();
    if (other == 0)
        for (;;) {
        }
    shared();
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    sched_setaffinity(0, sizeof all, &all);
    blocked();
    return 0;
}
