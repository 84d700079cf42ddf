/* A whole time loop in one region: chains without barriers, single, reduction, orphaned loops. */
#include "verify.h"
#include <omp.h>

enum { LENGTH = 600, STEPS = 60 };
static double x[LENGTH], y[LENGTH], norm;

static void orphaned(double factor) {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < LENGTH; i++) y[i] = factor * x[i];
#pragma omp for schedule(static)
    for (int i = 0; i < LENGTH; i++) x[i] = y[i] + 1;
}

int main(void) {
    int last = 0, rows = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < LENGTH; i++) x[i] = i % 16;
        for (int step = 0; step < STEPS; step++) {
#pragma omp single
            norm = 0;
#pragma omp for reduction(+ : norm)
            for (int i = 0; i < LENGTH; i++) norm += x[i];
            orphaned(0.5);
#pragma omp for schedule(dynamic, 16) nowait
            for (int i = 0; i < LENGTH / 2; i++) y[i] = norm;
#pragma omp for schedule(static, 4) lastprivate(last)
            for (int i = LENGTH - 1; i >= LENGTH / 2; i -= 3) { y[i] = -norm; last = i; }
#pragma omp for reduction(+ : rows) schedule(guided)
            for (int i = 0; i < step; i++) rows++;
            VERIFY(y[0] == norm && last == 302);
#pragma omp barrier
        }
    }
    VERIFY(rows == STEPS * (STEPS - 1) / 2);
    printf("%.17g %d %d\n", norm, last, rows);
}
