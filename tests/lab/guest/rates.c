/* A parallel region of steady work, in which events happen at known rates: the lab's doorbell rings them.
 * Each thread is on the context of its number.
 *
 * usage: lab-rates REGIONS RATE...: of event 0xa1, the unit mask of bit 0 happens so often in a million
 * user instructions, that of bit 1 as the second rate says, and so on. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long bell(unsigned long leaf, unsigned long selector, unsigned long number)
{
    unsigned long high = 0;
    __asm__ volatile("cpuid" : "+a"(leaf), "+b"(number), "+c"(selector), "+d"(high));
    return leaf;
}

int main(int argc, char **argv)
{
    long regions = argc > 1 ? atol(argv[1]) : 0;
#pragma omp parallel
    {
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(omp_get_thread_num(), &own);
        if (sched_setaffinity(0, sizeof own, &own) != 0)
            abort();
        for (int event = 0; event < argc - 2; event++)
            if (bell(0x4c504d03, 0x100ul << event | 0xa1, atol(argv[2 + event])) != 0)
                abort();
    }
    for (long region = 0; region < regions; region++) {
#pragma omp parallel
        for (volatile long step = 0; step < 20000; step++)
            ;
    }
    /* The next program on these contexts has no rates. */
#pragma omp parallel
    bell(0x4c504d05, 0, 0);
    puts("done");
    return 0;
}
