// Phases of PACMAN's sessions around and inside of regions.
#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <pacman.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void spin(double seconds) {
  double end = omp_get_wtime() + seconds;
  while (omp_get_wtime() < end)
    ;
}

static void check(int status) {
  if (status < 0) {
    printf("%s\n", pacman_last_error());
    exit(1);
  }
}

static pacman_session *open_session(const char *name) {
  pacman_session *session;
  pacman_options options = PACMAN_OPTIONS_INIT;
  options.name = name;
  options.events = "task-clock";
  check(pacman_session_open(&options, &session));
  check(pacman_attach(session));
  return session;
}

static pacman_phase define(pacman_session *session, const char *name) {
  pacman_phase phase;
  check(pacman_phase_define(session, name, &phase));
  return phase;
}

int main(void) {
  pacman_session *session = open_session("one"), *other = open_session("two");
  pacman_phase around = define(session, "around"), inside = define(session, "inside");
  pacman_phase again = define(session, "again"), left = define(session, "left");
  for (int round = 0; round < 2; round++) {
    int begun = 0;
    check(pacman_begin(session, around));
#pragma omp parallel num_threads(2)
    {
      check(pacman_attach(session));
      check(pacman_begin(session, inside));
      if (omp_get_thread_num() == 0) {
        __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
      } else {
        while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
          ;
        spin(0.02);
      }
#pragma omp barrier
      check(pacman_end(session, inside));
      if (omp_get_thread_num() == 1) spin(0.02);
    }
    check(pacman_end(session, around));
  }
  // Recursion: two executions, the first with another one inside. The third is of the other session.
  check(pacman_begin(session, again));
  check(pacman_begin(session, again));
  check(pacman_end(session, again));
  check(pacman_end(session, again));
  check(pacman_begin(session, again));
  if (pacman_end(session, around) >= 0) return 1;
  check(pacman_end(session, again));
  pacman_phase same = define(other, "again");
  check(pacman_begin(other, same));
  check(pacman_end(other, same));
  check(pacman_begin(session, left));
  check(pacman_detach(session));
  check(pacman_session_close(session));
  check(pacman_session_close(other));
  puts("done");
  return 0;
}
