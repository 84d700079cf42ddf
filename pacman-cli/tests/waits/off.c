// A process takes half of the processor from thread 0 while it works; it runs at no edge between two states.
// Thread 0 also sleeps while it works. Thread 1 waits at a barrier, and thread 0 waits for a critical section. The
// program prints, for each thread, the seconds of useful time and of waits in which it was on no processor, and those
// for which work of others had a processor of the program.
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

double lost_seconds(void);

// Seconds since the first time without those on a processor.
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

static double useful[2], waiting[2], stolen;
static pid_t thief;

static void work_while_stolen_from(void) {
  double before = lost_seconds();
  kill(thief, SIGCONT);
  busy(0.2);
  kill(thief, SIGSTOP);
  // The thief stops where it has the processor the next time.
  int status;
  waitpid(thief, &status, WUNTRACED);
  stolen = lost_seconds() - before;
}

static void work_body(int thread, int here) {
  reading whole = read_clocks();
  double waited = 0;
  if (thread == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    sched_setaffinity(0, sizeof one, &one);
    work_while_stolen_from();
    usleep(30000);
  }
  reading wait = read_clocks();
#pragma omp barrier
  waited += off_since(wait);
  // Thread 1 has the critical section first, and sleeps in it.
  if (thread == 0) busy(0.01);
  wait = read_clocks();
#pragma omp critical
  {
    waited += off_since(wait);
    if (thread == 1) usleep(60000);
  }
  // Short waits beside long ones.
  for (int round = 0; round < 40; round++) {
    busy(50e-6);
    wait = read_clocks();
#pragma omp barrier
    waited += off_since(wait);
  }
  waiting[thread] = waited;
  useful[thread] = off_since(whole) - waited;
}

int main(void) {
  int here = sched_getcpu();
  thief = fork();
  if (thief == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    sched_setaffinity(0, sizeof one, &one);
    raise(SIGSTOP);
    for (;;)
      ;
  }
  int status;
  waitpid(thief, &status, WUNTRACED);
  double before = lost_seconds();
#pragma omp parallel num_threads(2)
  work_body(omp_get_thread_num(), here);
  double lost = lost_seconds() - before - stolen;
  kill(thief, SIGKILL);
  waitpid(thief, 0, 0);
  for (int thread = 0; thread < 2; thread++)
    printf("%d %.9f %.9f %.9f\n", thread, useful[thread], waiting[thread], lost);
  return 0;
}
