// Two regions in turn, each as often as the argument says.
#include <omp.h>
#include <stdlib.h>

static volatile int sum;

static void first(void) {
#pragma omp parallel num_threads(2)
  {
    __asm__ volatile("" ::: "memory");
#pragma omp barrier
    __asm__ volatile("" ::: "memory");
  }
}

static void second(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp critical
    sum++;
  }
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  for (int round = 0; round < rounds; round++) {
    first();
    second();
  }
  return sum != 2 * rounds;
}
