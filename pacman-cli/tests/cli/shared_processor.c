#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ran(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(void)
{
    cpu_set_t all, one;
    int cpu = 0;
    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET(cpu, &all)) cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t other = fork();
    if (other == 0)
        for (;;) {}
    #pragma omp parallel num_threads(1)
    {
        double begun = ran();
        while (ran() - begun < 0.2) {}
    }
    kill(other, SIGKILL);
    waitpid(other, 0, 0);
    return 0;
}
