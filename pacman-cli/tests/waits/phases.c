// Phases with LIKWID's calls, which are there if the preloaded library is. The program prints for each phase
// and thread the seconds of waits, of useful time on no processor, and of waits on none.
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

extern int likwid_markerStartRegion(const char *) __attribute__((weak));
extern int likwid_markerStopRegion(const char *) __attribute__((weak));

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

typedef struct { double wall, processor; } reading;

static reading read_clocks(void) {
  reading at = {now(CLOCK_MONOTONIC), now(CLOCK_THREAD_CPUTIME_ID)};
  return at;
}

static double off_since(reading begun) {
  reading at = read_clocks();
  return at.wall - begun.wall - (at.processor - begun.processor);
}

static void busy(double seconds) {
  double end = now(CLOCK_MONOTONIC) + seconds;
  while (now(CLOCK_MONOTONIC) < end)
    ;
}

static void print(const char *name, int thread, double waiting, double off, double waiting_off) {
  printf("%s %d %.9f %.9f %.9f\n", name, thread, waiting, off - waiting_off, waiting_off);
}

static reading ended;

static void inside_body(int thread) {
  reading whole = read_clocks();
  likwid_markerStartRegion("inside");
  if (thread == 0) busy(0.02);
  else busy(0.06);
  if (thread == 1) usleep(20000);
  reading wait = read_clocks();
#pragma omp barrier
  double waited = now(CLOCK_MONOTONIC) - wait.wall, waited_off = off_since(wait);
  likwid_markerStopRegion("inside");
  double off = off_since(whole);
#pragma omp critical
  print("inside", thread, waited, off, waited_off);
}

static void around_body(int thread) {
  if (thread == 1) busy(0.05);
  if (thread == 0) ended = read_clocks();
}

int main(void) {
  // The first execution of a region takes time of its own.
#pragma omp parallel num_threads(2)
  { __asm__ volatile(""); }
  for (int round = 0; round < 2; round++) {
    const char *name = round ? "around" : "first";
    reading whole = read_clocks();
    likwid_markerStartRegion(name);
    busy(0.03);
    usleep(30000);
#pragma omp parallel num_threads(2)
    around_body(omp_get_thread_num());
    double waited = now(CLOCK_MONOTONIC) - ended.wall, waited_off = off_since(ended);
    likwid_markerStopRegion(name);
    print(name, 0, waited, off_since(whole), waited_off);
  }
#pragma omp parallel num_threads(2)
  inside_body(omp_get_thread_num());
  return 0;
}
