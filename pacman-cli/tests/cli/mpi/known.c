// Two ranks with known delays. Each times its MPI calls itself, and prints a line for each kind of call:
// the rank, the number of the thread in its team or "out", the function, the number of calls and their
// seconds.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 2, ROUNDS = 40 };

static int rank;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void pause_ms(double milliseconds) {
  struct timespec time = {0, (long)(milliseconds * 1e6)};
  nanosleep(&time, NULL);
}

#define TIMED(seconds, call)                                                                       \
  do {                                                                                             \
    double from = now();                                                                           \
    call;                                                                                          \
    seconds += now() - from;                                                                       \
  } while (0)

static void outside(void) {
  double received = 0, sent = 0, met = 0;
  char message[16] = "outside";
  for (int round = 0; round < ROUNDS; round++) {
    if (rank == 0) {
      pause_ms(4);
      TIMED(sent, MPI_Ssend(message, 16, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
    } else {
      TIMED(received, MPI_Recv(message, 16, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      pause_ms(1);
    }
    TIMED(met, MPI_Barrier(MPI_COMM_WORLD));
  }
  if (rank == 0)
    printf("0 out MPI_Ssend %d %.9f\n", ROUNDS, sent);
  else
    printf("1 out MPI_Recv %d %.9f\n", ROUNDS, received);
  printf("%d out MPI_Barrier %d %.9f\n", rank, ROUNDS, met);
}

// Threads of the same number exchange messages.
static void inside(void) {
  double received[THREADS] = {0};
#pragma omp parallel num_threads(THREADS)
  {
    int thread = omp_get_thread_num(), value = 0;
    for (int round = 0; round < ROUNDS; round++) {
      if (rank == 0) {
        pause_ms(thread ? 4 : 2);
        MPI_Send(&round, 1, MPI_INT, 1, 10 + thread, MPI_COMM_WORLD);
      } else {
        double from = now();
        MPI_Recv(&value, 1, MPI_INT, 0, 10 + thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        received[thread] += now() - from;
        if (value != round)
          printf("wrong %d\n", value);
      }
    }
  }
  for (int thread = 0; rank == 1 && thread < THREADS; thread++)
    printf("1 %d MPI_Recv %d %.9f\n", thread, ROUNDS, received[thread]);
}

int main(int count, char **words) {
  int provided, ranks, sum = 0, left[2] = {0}, right[2];
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // The threads start here.
#pragma omp parallel num_threads(THREADS)
  pause_ms(1);
  outside();
  if (provided == MPI_THREAD_MULTIPLE)
    inside();
  else
    printf("no threads\n");
  // A function with twelve arguments, of which six are on the stack.
  right[0] = rank + 5;
  MPI_Sendrecv(right, 1, MPI_INT, (rank + 1) % ranks, 3, left, 1, MPI_INT, (rank + ranks - 1) % ranks,
               3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (left[0] != (rank + ranks - 1) % ranks + 5)
    printf("wrong %d\n", left[0]);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != ranks * (ranks - 1) / 2)
    printf("wrong %d\n", sum);
  MPI_Finalize();
  return 0;
}
