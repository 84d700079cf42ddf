/* Regions of two threads, a report of its own, and an exit status that tells it from others. */
#include <stdio.h>

int main(void)
{
    long sum = 0;
    for (int step = 0; step < 4; step++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum += step;
    }
    printf("sum %ld\n", sum);
    return 7;
}
