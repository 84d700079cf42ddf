/* A wavefront of tasks that depend on their neighbours. */
#include "verify.h"

enum { SIDE = 10, STEPS = 20 };
static long cell[SIDE][SIDE];

int main(void) {
    long corner = 0, exclusive = 0;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < SIDE; i++) cell[i][0] = cell[0][i] = step + 1;
        exclusive = 0;
#pragma omp parallel
#pragma omp single
        {
            for (int i = 1; i < SIDE; i++)
                for (int j = 1; j < SIDE; j++) {
#pragma omp task depend(in : cell[i - 1][j], cell[i][j - 1]) depend(out : cell[i][j]) firstprivate(i, j)
                    cell[i][j] = cell[i - 1][j] + cell[i][j - 1];
                }
            for (int i = 0; i < 10; i++) {
#pragma omp task depend(mutexinoutset : exclusive)
                exclusive += cell[0][0] > 0;
            }
#pragma omp task depend(inout : exclusive)
            exclusive *= 2;
        }
        VERIFY(exclusive == 20);
        VERIFY(cell[SIDE - 1][SIDE - 1] == 48620L * (step + 1));
        corner += cell[SIDE - 1][SIDE - 1];
    }
    printf("%ld %ld\n", corner, exclusive);
}
