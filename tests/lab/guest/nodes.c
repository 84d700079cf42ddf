/* Runs a parallel region whose time depends on the packages that its threads run on.
 *
 * usage: lab-nodes EXECUTIONS near|far: executions of `near` are short on one package, those of `far`
 * on two, as if the threads shared lines or memory. Prints how many executions ran on how many packages
 * and threads. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Two packages of two cores: Linux numbers the CPUs package by package. */
static int package_of(int cpu) { return cpu / 2; }

static atomic_int packages, members;

static long microseconds(int is_near)
{
    int both = atomic_load(&packages) == 3, threads = atomic_load(&members);
    if (is_near)
        return threads == 1 ? 6000 : both ? 5000 : 2000;
    return (both ? 1000 : 5000) + 1500 * threads;
}

static void run(int is_near)
{
    atomic_store(&packages, 0);
    atomic_store(&members, 0);
#pragma omp parallel
    {
        atomic_fetch_or(&packages, 1 << package_of(sched_getcpu()));
        atomic_fetch_add(&members, 1);
#pragma omp barrier
        struct timespec length = {0, 1000 * microseconds(is_near)};
        nanosleep(&length, NULL);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 4; i++)
            atomic_signal_fence(memory_order_seq_cst);
    }
}

int main(int count, char **words)
{
    if (count != 3)
        return 2;
    int is_near = !strcmp(words[2], "near");
    int ran[3][5] = {{0}};
    for (long left = atol(words[1]); left > 0; left--) {
        run(is_near);
        ran[atomic_load(&packages) == 3 ? 2 : 1][atomic_load(&members)]++;
    }
    for (int among = 1; among <= 2; among++)
        for (int threads = 1; threads <= 4; threads++)
            printf("ran %d %d %d\n", among, threads, ran[among][threads]);
    return 0;
}
