/* 24 regions of some milliseconds of processor time each, so that two event sets take turns. */
#include <stdio.h>
#include <time.h>

static double used(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

int main(void) {
    int sum = 0;
    for (int region = 0; region < 24; region++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            double begun = used();
            while (used() - begun < 0.004)
                ;
            sum++;
        }
    }
    printf("sum %d\n", sum);
    return 7;
}
