/* Equal static loops without a barrier between: each thread finds what it wrote itself. */
#include "verify.h"

enum { LENGTH = 1003, STEPS = 80 };
static long a[LENGTH], b[LENGTH], c[LENGTH];

int main(void) {
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel
        {
#pragma omp for schedule(static) nowait
            for (int i = 0; i < LENGTH; i++) a[i] = i + step;
#pragma omp for schedule(static) nowait
            for (int i = 0; i < LENGTH; i++) b[i] = 2 * a[i];
#pragma omp for schedule(static) nowait
            for (int i = 0; i < LENGTH; i++) c[i] += b[i] - a[i];
        }
#pragma omp parallel
        {
#pragma omp for schedule(static, 5) nowait
            for (int i = 0; i < LENGTH; i++) a[i] = 3 * i;
#pragma omp for schedule(static, 5)
            for (int i = 0; i < LENGTH; i++) c[i] += a[i];
        }
    }
    long sum = 0;
    for (int i = 0; i < LENGTH; i++) {
        VERIFY(c[i] == STEPS * 4L * i + STEPS * (STEPS - 1L) / 2);
        sum += c[i];
    }
    printf("%ld\n", sum);
}
