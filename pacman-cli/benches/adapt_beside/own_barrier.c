/* Regions whose threads wait for each other at a spinning barrier of the program's own: while they share a context,
 * each round takes a time slice of every thread.
 *
 * usage: own_barrier executions rounds   Seconds on standard output. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int arrived, passed;

static void wait_for_all(int threads) {
    int before = atomic_load(&passed);
    if (atomic_fetch_add(&arrived, 1) == threads - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&passed, 1);
        return;
    }
    while (atomic_load(&passed) == before) {}
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    int executions = atoi(arguments[1]), rounds = atoi(arguments[2]);
    double begin = omp_get_wtime();
    for (int execution = 0; execution < executions; execution++) {
#pragma omp parallel
        for (int round = 0; round < rounds; round++) wait_for_all(omp_get_num_threads());
    }
    printf("%.6f\n", omp_get_wtime() - begin);
}
