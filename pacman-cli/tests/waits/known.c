// Each region has one kind of wait, and times its waits itself. The program prints a line for each
// region and thread: the region, the thread, the seconds of waits inside, the seconds outside of the
// thread's body and tasks, the seconds of the region, and those for which other work had a processor of it.
#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 2, ROUNDS = 32 };

double lost_seconds(void);

static double inside[THREADS], begun[THREADS], ended[THREADS], worked[THREADS][8];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void spin(double milliseconds) {
  struct timespec first, time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &first);
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  while ((time.tv_sec - first.tv_sec) * 1e3 + (time.tv_nsec - first.tv_nsec) * 1e-6 < milliseconds);
}

static void task(double milliseconds) {
  double from = now();
  spin(milliseconds);
  worked[omp_get_thread_num()][0] += now() - from;
}

static void run(const char *name, void (*region)(void)) {
  for (int thread = 0; thread < THREADS; thread++)
    inside[thread] = worked[thread][0] = 0;
  double before = lost_seconds(), from = now();
  region();
  double whole = now() - from, lost = lost_seconds() - before;
  for (int thread = 0; thread < THREADS; thread++) {
    double outside = whole - (ended[thread] - begun[thread]) - worked[thread][0];
    printf("%s %d %.9f %.9f %.9f %.9f\n", name, thread, inside[thread], outside, whole, lost);
  }
}

#define REGION(name)                                                                               \
  static void name(void) {                                                                         \
    _Pragma("omp parallel num_threads(THREADS)") {                                                 \
      int thread = omp_get_thread_num();                                                           \
      begun[thread] = now();                                                                       \
      name##_body(thread);                                                                         \
      ended[thread] = now();                                                                       \
    }                                                                                              \
  }

static void triangle_body(int thread) {
  for (int round = 0; round < ROUNDS; round++) {
    double last = now();
#pragma omp for schedule(static)
    for (int i = 0; i < 8; i++) {
      spin(i * 0.25);
      last = now();
    }
    inside[thread] += now() - last;
  }
}

static void dynamic_body(int thread) {
  for (int round = 0; round < ROUNDS; round++) {
    double last = now();
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 4; i++) {
      spin(1);
      last = now();
    }
    inside[thread] += now() - last;
  }
}

static void single_body(int thread) {
  for (int round = 0; round < ROUNDS; round++) {
    double last = now();
#pragma omp single
    {
      spin(4);
      last = now();
    }
    inside[thread] += now() - last;
  }
}

static void sections_body(int thread) {
  for (int round = 0; round < ROUNDS; round++) {
    double last = now();
#pragma omp sections
    {
#pragma omp section
      {
        spin(1);
        last = now();
      }
#pragma omp section
      {
        spin(4);
        last = now();
      }
    }
    inside[thread] += now() - last;
  }
}

static void critical_body(int thread) {
  for (int round = 0; round < ROUNDS; round++) {
    double from = now();
#pragma omp critical(shared)
    {
      inside[thread] += now() - from;
      spin(3);
    }
  }
}

static omp_lock_t lock;

static void locked_body(int thread) {
  for (int round = 0; round < ROUNDS; round++) {
    double from = now();
    omp_set_lock(&lock);
    inside[thread] += now() - from;
    spin(thread ? 1 : 4);
    omp_unset_lock(&lock);
  }
}

static void barrier_body(int thread) {
  for (int round = 0; round < ROUNDS; round++) {
    spin(thread ? 1 : 4);
    double from = now();
#pragma omp barrier
    inside[thread] += now() - from;
  }
}

static void ordered_body(int thread) {
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < 2 * ROUNDS; i++) {
    double from = now();
#pragma omp ordered
    {
      inside[thread] += now() - from;
      spin(3);
    }
    ended[thread] = now();
  }
  inside[thread] += now() - ended[thread];
}

// Tasks run inside the barrier, and are work.
static void tasks_body(int thread) {
  for (int round = 0; round < ROUNDS; round++) {
    double meanwhile = worked[thread][0];
    if (thread == 0)
      for (int i = 0; i < 3; i++) {
#pragma omp task
        task(2);
      }
    double from = now();
#pragma omp barrier
    inside[thread] += now() - from - (worked[thread][0] - meanwhile);
  }
  // They ran inside of the body.
  worked[thread][0] = 0;
}

static void taskwait_body(int thread) {
  for (int round = 0; round < ROUNDS; round++) {
    if (thread == 0) {
      for (int i = 0; i < 3; i++) {
        double buffer[80] = {i};
#pragma omp task firstprivate(buffer)
        task(buffer[0] + 1);
      }
      double meanwhile = worked[thread][0], from = now();
#pragma omp taskwait
      inside[thread] += now() - from - (worked[thread][0] - meanwhile);
    }
    double meanwhile = worked[thread][0], from = now();
#pragma omp barrier
    inside[thread] += now() - from - (worked[thread][0] - meanwhile);
  }
  worked[thread][0] = 0;
}

static void taskloop_body(int thread) {
  double meanwhile = worked[thread][0], from = now();
#pragma omp single
  {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < ROUNDS; i++)
      task(2);
  }
  inside[thread] += now() - from - (worked[thread][0] - meanwhile);
  worked[thread][0] = 0;
}

// Tasks run in the wait at the region's end.
static void late_body(int thread) {
  if (thread == 0)
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp task
      task(3);
    }
}

static void uneven_body(int thread) { spin(thread ? ROUNDS : 2 * ROUNDS); }

REGION(triangle)
REGION(dynamic)
REGION(single)
REGION(sections)
REGION(critical)
REGION(locked)
REGION(barrier)
REGION(ordered)
REGION(tasks)
REGION(taskwait)
REGION(taskloop)
REGION(late)
REGION(uneven)

#define RUN(name) run(#name, name)

int main(void) {
  omp_init_lock(&lock);
  // The threads start here.
#pragma omp parallel num_threads(THREADS)
  spin(1);
  RUN(triangle);
  RUN(dynamic);
  RUN(single);
  RUN(sections);
  RUN(critical);
  RUN(locked);
  RUN(barrier);
  RUN(ordered);
  RUN(tasks);
  RUN(taskwait);
  RUN(taskloop);
  RUN(late);
  RUN(uneven);
  return 0;
}
