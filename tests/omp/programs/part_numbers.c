/* For second_runtime: two regions that check the numbers of their threads. */
#include <omp.h>

#define MOST 64

static int is_numbered(const int *seen, int size) {
    for (int i = 0; i < MOST; i++)
        if (seen[i] != (i < size)) return 0;
    return 1;
}

long work(int second) {
    int seen[MOST] = {0}, size = 0;
    if (second) {
#pragma omp parallel
        {
#pragma omp atomic
            seen[omp_get_thread_num()]++;
#pragma omp single
            size = omp_get_num_threads();
        }
    } else {
#pragma omp parallel
        {
            int number = omp_get_thread_num();
#pragma omp atomic
            seen[number]++;
            if (number == 0) size = omp_get_num_threads();
        }
    }
    return is_numbered(seen, size) ? size : 0;
}
