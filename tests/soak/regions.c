/* regions same WARM N STRETCHES: so many regions on two threads. regions changing …: regions whose teams change,
 * so that about N threads live and end. Prints resources after the first WARM of N and after each stretch. */
#define _GNU_SOURCE 1
#include "flat.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

static long ran;

static void region(int threads)
{
    long sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum += 1;
    if (sum != threads)
        exit(1);
    ran++;
}

static void same(long count)
{
    while (count-- > 0)
        region(2);
}

/* libgomp ends the threads that a narrower team has no use for: two each time. */
static void changing(long count)
{
    for (; count > 0; count -= 2) {
        region(4);
        region(2);
    }
}

int main(int arguments, char **argument)
{
    void (*part)(long);

    if (arguments != 5)
        return 2;
    omp_set_dynamic(0);
    part = strcmp(argument[1], "same") ? changing : same;
    soak(part, argument + 2, 2);
    printf("ran %ld\n", ran);
    return 0;
}
