// Each thread shares a processor with another process, and nobody holds what the thread asks for: a team of
// one meets every construct, or two threads each take a lock of their own. The program prints the seconds that
// its threads were on no processor.
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

// Long enough for readings of the thread's clock between two calls.
static double work(void) {
  volatile double sum = 0;
  for (int at = 0; at < 6000; at++) sum += at;
  return sum;
}

static double sums[64];
static omp_lock_t locks[64];
static omp_nest_lock_t nest;

static double constructs_body(int round) {
  double sum = work();
#pragma omp critical
  sum += work();
#pragma omp critical(named)
  sum += work();
  omp_set_lock(&locks[0]);
  sum += work();
  omp_unset_lock(&locks[0]);
  omp_set_nest_lock(&nest);
  sum += work();
  omp_unset_nest_lock(&nest);
#pragma omp single
  sum += work();
#pragma omp barrier
#pragma omp for schedule(dynamic) reduction(+ : sums[:8])
  for (int at = 0; at < 2; at++) sums[at] += work();
#pragma omp for ordered
  for (int at = 0; at < 2; at++)
#pragma omp ordered
    sum += work();
#pragma omp sections
  {
#pragma omp section
    sum += work();
#pragma omp section
    sum += work();
  }
#pragma omp task
  work();
#pragma omp taskwait
#pragma omp taskgroup
  {
#pragma omp task
    work();
  }
  return sum + round;
}

static void constructs(int rounds) {
#pragma omp parallel num_threads(1)
  for (int round = 0; round < rounds; round++) sums[32] += constructs_body(round);
}

static void own_locks(int rounds) {
#pragma omp parallel num_threads(2)
  {
    int own = omp_get_thread_num();
    for (int round = 0; round < rounds; round++) {
      sums[8 * own] += work();
      omp_set_lock(&locks[16 * own]);
      sums[8 * own] += work();
      omp_unset_lock(&locks[16 * own]);
    }
  }
}

int main(int count, char **arguments) {
  int threads = count > 1 ? atoi(arguments[1]) : 1;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one)) return 1;
  pid_t others[3];
  for (int at = 0; at < 3; at++)
    if ((others[at] = fork()) == 0)
      for (;;) {}
  for (int at = 0; at < 64; at++) omp_init_lock(&locks[at]);
  omp_init_nest_lock(&nest);
  double begun = now(CLOCK_MONOTONIC), ran = now(CLOCK_PROCESS_CPUTIME_ID);
  if (threads == 1)
    constructs(400);
  else
    own_locks(2000);
  double wall = now(CLOCK_MONOTONIC) - begun;
  printf("%.6f\n", threads * wall - (now(CLOCK_PROCESS_CPUTIME_ID) - ran));
  for (int at = 0; at < 3; at++) {
    kill(others[at], SIGKILL);
    waitpid(others[at], 0, 0);
  }
  return 0;
}
