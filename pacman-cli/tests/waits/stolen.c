// A process takes half of the processor from thread 0, while thread 1 sleeps at a barrier. The program
// prints the seconds of thread 0's work by the wall and on a processor.
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

int main(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one)) return 1;
  pid_t thief = fork();
  if (thief == 0)
    for (;;)
      ;
  double wall = 0, processor = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      double begun = now(CLOCK_MONOTONIC), had = now(CLOCK_THREAD_CPUTIME_ID);
      while (now(CLOCK_MONOTONIC) < begun + 0.2)
        ;
      wall = now(CLOCK_MONOTONIC) - begun;
      processor = now(CLOCK_THREAD_CPUTIME_ID) - had;
    }
#pragma omp barrier
    __asm__ volatile("");
  }
  kill(thief, SIGKILL);
  waitpid(thief, 0, 0);
  printf("%.9f %.9f\n", wall, processor);
  return 0;
}
