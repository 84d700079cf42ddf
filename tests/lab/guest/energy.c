/* Runs two parallel regions in turn, with a power of the package that the lab's doorbell sets.
 *
 * usage: lab-energy ROUNDS MICROSECONDS HEAVY LIGHT: the regions last that long, at so many
 * milliwatts; between them the package takes a watt. */
#include <stdlib.h>
#include <time.h>

/* The lab's doorbell: the power of domain 0, the package, from now on. */
static void set_power(unsigned long milliwatts)
{
    unsigned long leaf = 0x4c504d07, domain = 0, high = 0;
    __asm__ volatile("cpuid" : "+a"(leaf), "+b"(milliwatts), "+c"(domain), "+d"(high));
    if (leaf)
        abort();
}

static void spin(long microseconds)
{
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000000 + (now.tv_nsec - begun.tv_nsec) / 1000 < microseconds);
}

void heavy(long microseconds)
{
#pragma omp parallel
    spin(microseconds);
}

void light(long microseconds)
{
#pragma omp parallel
    spin(microseconds);
}

int main(int count, char **words)
{
    if (count != 5)
        return 2;
    for (long round = 0; round < atol(words[1]); round++) {
        set_power(atol(words[3]));
        heavy(atol(words[2]));
        set_power(atol(words[4]));
        light(atol(words[2]));
        set_power(1000);
    }
    return 0;
}
