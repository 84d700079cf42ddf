/* A region whose threads do nearly all of their work in one critical section.
 *
 * usage: critical executions   The result on standard output, seconds on standard error. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 300, INSIDE = 600, OUTSIDE = 60 };
static double totals[16];

static double term(int turn, int length) {
    double sum = 0;
    for (int i = 1; i <= length; i++) sum += 1.0 / (i + turn);
    return sum;
}

static void collect(void) {
#pragma omp parallel for schedule(static)
    for (int turn = 0; turn < TURNS; turn++) {
        double own = term(turn, OUTSIDE);
#pragma omp critical
        totals[turn % 16] += own + term(turn, INSIDE);
    }
}

int main(int count, char **arguments) {
    int executions = count > 1 ? atoi(arguments[1]) : 40;
    double begin = omp_get_wtime();
    for (int execution = 0; execution < executions; execution++) collect();
    fprintf(stderr, "%.4f\n", omp_get_wtime() - begin);
    printf("%.6f\n", totals[0]);
}
