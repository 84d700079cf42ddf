// A program without a defect: equal work for each thread. The test runs busy loops beside it.
#include <stdio.h>

enum { ROWS = 64, STEPS = 40 };

static double grid[ROWS];

int main(void) {
  for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for schedule(static)
    for (int row = 0; row < ROWS; row++)
      for (int i = 0; i < 40000; i++)
        grid[row] += i * 1e-9 / (1 + grid[row]);
  }
  printf("%g\n", grid[0]);
  return 0;
}
