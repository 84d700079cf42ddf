// Phases with LIKWID's calls, which are there if the preloaded library is, or of a session. The program prints for each phase
// and thread the seconds of waits, of useful time on no processor, of waits on none, and those for which other work had a
// processor of the program.
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#ifdef SESSION
#include <pacman.h>
#include <stdlib.h>

static pacman_session *session;

static void check(int status) {
  if (status < 0) {
    fprintf(stderr, "%s\n", pacman_last_error());
    exit(1);
  }
}

static pacman_phase phase(const char *name) {
  pacman_phase phase;
  check(pacman_phase_define(session, name, &phase));
  return phase;
}

static void begin(const char *name) { check(pacman_begin(session, phase(name))); }
static void end(const char *name) { check(pacman_end(session, phase(name))); }
static void attach(void) { check(pacman_attach(session)); }
static void open_session(void) {
  pacman_options options = PACMAN_OPTIONS_INIT;
  options.name = "phases";
  options.events = "task-clock";
  check(pacman_session_open(&options, &session));
}
#else
extern int likwid_markerStartRegion(const char *) __attribute__((weak));
extern int likwid_markerStopRegion(const char *) __attribute__((weak));

static void begin(const char *name) { likwid_markerStartRegion(name); }
static void end(const char *name) { likwid_markerStopRegion(name); }
static void attach(void) {}
static void open_session(void) {}
#endif

double lost_seconds(void);

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

static double lost_before;

static void print(const char *name, int thread, double waiting, double off, double waiting_off) {
  double lost = lost_seconds() - lost_before;
  printf("%s %d %.9f %.9f %.9f %.9f\n", name, thread, waiting, off - waiting_off, waiting_off, lost);
}

static reading ended;

static void inside_body(int thread) {
  reading whole = read_clocks();
  begin("inside");
  if (thread == 0) busy(0.02);
  else busy(0.06);
  if (thread == 1) usleep(20000);
  reading wait = read_clocks();
#pragma omp barrier
  double waited = now(CLOCK_MONOTONIC) - wait.wall, waited_off = off_since(wait);
  end("inside");
  double off = off_since(whole);
#pragma omp critical
  print("inside", thread, waited, off, waited_off);
}

static void around_body(int thread) {
  if (thread == 1) busy(0.05);
  if (thread == 0) ended = read_clocks();
}

int main(void) {
  open_session();
  // The first execution of a region takes time of its own.
#pragma omp parallel num_threads(2)
  { attach(); }
  for (int round = 0; round < 2; round++) {
    const char *name = round ? "around" : "first";
    lost_before = lost_seconds();
    reading whole = read_clocks();
    begin(name);
    busy(0.03);
    usleep(30000);
#pragma omp parallel num_threads(2)
    around_body(omp_get_thread_num());
    double waited = now(CLOCK_MONOTONIC) - ended.wall, waited_off = off_since(ended);
    end(name);
    print(name, 0, waited, off_since(whole), waited_off);
  }
  lost_before = lost_seconds();
#pragma omp parallel num_threads(2)
  inside_body(omp_get_thread_num());
  return 0;
}
