/* Iterations that wait for earlier ones, along two axes. */
#include "verify.h"

enum { SIDE = 12, STEPS = 20 };
static long cell[SIDE][SIDE];

int main(void) {
    long total = 0;
    for (int step = 1; step <= STEPS; step++) {
        for (int i = 0; i < SIDE; i++) cell[i][0] = cell[0][i] = step;
#pragma omp parallel
#pragma omp for ordered(2) schedule(static, 1)
        for (int i = 1; i < SIDE; i++)
            for (int j = 1; j < SIDE; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
                cell[i][j] = cell[i - 1][j] + cell[i][j - 1];
#pragma omp ordered depend(source)
            }
        VERIFY(cell[2][2] == 6L * step);
        total += cell[SIDE - 1][SIDE - 1];
    }
    printf("%ld\n", total);
}
