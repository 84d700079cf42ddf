/* Runs a parallel region so many times, each thread on the context of its number, and prints the
 * user and kernel instructions that those contexts retired meanwhile.
 *
 * In a team of two the second thread is late in every region, and the first between regions. So
 * each waits for the other in the same place every time: else a library that delays one of them
 * would change how often they wait, and what waiting takes would be taken for the library's.
 *
 * usage: lab-regions REGIONS [BYTES]: so many bytes are taken from the heap first. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 2

struct retired {
    unsigned long user, kernel;
};

/* The lab's doorbell: what this context retired since it started. */
static struct retired retired(void)
{
#ifdef __aarch64__
    unsigned long user, kernel;
    __asm__ volatile("mrs %0, s3_3_c15_c0_2; mrs %1, s3_3_c15_c0_6" : "=r"(user), "=r"(kernel));
#else
    unsigned long user = 0x4c504d02, kernel = 0, selector = 0, high = 0;
    __asm__ volatile("cpuid" : "+a"(user), "+b"(kernel), "+c"(selector), "+d"(high));
#endif
    return (struct retired){user, kernel};
}

static __thread int is_second;

/* Longer than it takes to go to sleep. */
static void be_late(void)
{
    for (volatile long step = 0; step < 5000; step++)
        ;
}

int main(int argc, char **argv)
{
    long regions = argc > 1 ? atol(argv[1]) : 0;
    struct retired before[MOST] = {{0, 0}}, after[MOST] = {{0, 0}}, sum = {0, 0};
    if (omp_get_max_threads() > MOST)
        return 2;
    char *volatile taken = argc > 2 ? malloc(atol(argv[2])) : NULL;
    (void)taken;
#pragma omp parallel
    {
        int number = omp_get_thread_num();
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(number, &own);
        if (sched_setaffinity(0, sizeof own, &own) != 0)
            abort();
        is_second = number == 1;
        before[number] = retired();
    }
    int is_alone = omp_get_max_threads() == 1;
    for (long region = 0; region < regions; region++) {
#pragma omp parallel
        if (is_second)
            be_late();
        if (!is_alone)
            be_late();
    }
#pragma omp parallel
    after[omp_get_thread_num()] = retired();
    for (int number = 0; number < MOST; number++) {
        sum.user += after[number].user - before[number].user;
        sum.kernel += after[number].kernel - before[number].kernel;
    }
    printf("%lu %lu\n", sum.user, sum.kernel);
    return 0;
}
