// A solver whose loop gives its last iterations the most work.
#include <stdio.h>

enum { ROWS = 400, STEPS = 30 };

static double grid[ROWS];

static void relax(double scale) {
#pragma omp parallel for
  for (int row = 0; row < ROWS; row++)
    grid[row] = grid[row] * scale + 1;
}

static void solve(void) {
#pragma omp parallel
  for (int step = 0; step < STEPS; step++) {
#pragma omp for
    for (int row = 0; row < ROWS; row++) {
      double sum = 0;
      for (int column = 0; column < row * 20; column++)
        sum += column * 1e-9 / (1 + sum);
      grid[row] += sum;
    }
  }
}

int main(void) {
  for (int pass = 0; pass < 3; pass++) {
    relax(0.5);
    solve();
  }
  printf("%g\n", grid[ROWS - 1]);
  return 0;
}
