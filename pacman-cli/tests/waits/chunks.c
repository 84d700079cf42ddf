// Loops whose threads ask for each of so many iterations, and for 1,000 at once. Prints the seconds of each.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

// Work that no other thread's work disturbs.
static void work(long at) { __asm__ volatile("imul %0, %0\n\timul %0, %0" : "+r"(at)); }

int main(int argc, char **argv) {
  long many = atol(argv[argc - 1]);
  // The threads start here.
#pragma omp parallel num_threads(2)
  work(0);
  double begun = now();
#pragma omp parallel for num_threads(2) schedule(dynamic, 1)
  for (long at = 0; at < many; at++)
    work(at);
  double single = now() - begun;
  begun = now();
#pragma omp parallel for num_threads(2) schedule(dynamic, 1000)
  for (long at = 0; at < many; at++)
    work(at);
  printf("%.6f %.6f\n", single, now() - begun);
}
