// A histogram that takes one lock for each sample, and computes the sample while it has it.
#include <omp.h>
#include <stdio.h>

enum { SAMPLES = 1200, BINS = 16, PASSES = 3 };

static long histogram[BINS];
static double sums[SAMPLES];
static omp_lock_t lock;

static double sample(int number) {
  double value = 0;
  for (int i = 0; i < 25000; i++)
    value += i * 1e-9 / (1 + number + value);
  return value;
}

static void prepare(void) {
#pragma omp parallel for
  for (int number = 0; number < SAMPLES; number++)
    for (int i = 0; i < 4000; i++)
      sums[number] += i * 1e-9;
}

static void count(void) {
#pragma omp parallel for
  for (int number = 0; number < SAMPLES; number++) {
    omp_set_lock(&lock);
    histogram[(int)(sample(number) * 1e6) % BINS]++;
    omp_unset_lock(&lock);
  }
}

int main(void) {
  omp_init_lock(&lock);
  for (int pass = 0; pass < PASSES; pass++) {
    prepare();
    count();
  }
  printf("%ld\n", histogram[0]);
  return 0;
}
