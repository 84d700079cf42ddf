// A time loop inside one region, with every kind of loop that libomp hands out by
// __kmpc_for_static_init_*, and others beside them. Prints how many results are wrong, and on
// how many threads the loops ran: `wrong 0 plain 1,4 chunked 1,4`.
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 601, MOST = 64 };
static double a[N], b[N];
static const void *owner[N], *owner_of_chunks[N];
static int visits[8][N];
static unsigned plain, chunked; // sets of widths

typedef struct { int32_t a, flags, b, c; const char *source; } ident;
static ident place = {0, 0x202, 0, 0, ";unknown;unknown;0;0;;"};
int32_t __kmpc_global_thread_num(ident *);
void __kmpc_for_static_init_4(ident *, int32_t, int32_t, int32_t *, int32_t *, int32_t *, int32_t *, int32_t, int32_t);
void __kmpc_for_static_init_8u(ident *, int32_t, int32_t, int32_t *, uint64_t *, uint64_t *, int64_t *, int64_t, int64_t);
void __kmpc_for_static_fini(ident *, int32_t);

// As Fortran compilers have it: counting down, in the program's own steps.
static void down_to_zero(int from, int step, int schedule, int chunk, int *visited) {
  int32_t number = __kmpc_global_thread_num(&place), last = 0, lower = from, upper = 0, stride = 1;
  __kmpc_for_static_init_4(&place, number, schedule, &last, &lower, &upper, &stride, -step, chunk);
  for (; lower >= (upper > 0 ? upper : 0); lower += stride, upper += stride) {
    for (int i = lower; i >= (upper > 0 ? upper : 0); i -= step) visited[i]++;
    if (schedule == 34) break;
  }
  __kmpc_for_static_fini(&place, number);
}

// At the end of the type: a bound that cannot be stepped over.
static void to_the_end(int *visited) {
  const uint64_t first = UINT64_MAX - (N - 1);
  int32_t number = __kmpc_global_thread_num(&place), last = 0;
  uint64_t lower = first, upper = UINT64_MAX;
  int64_t stride = 1;
  __kmpc_for_static_init_8u(&place, number, 34, &last, &lower, &upper, &stride, 1, 1);
  if (lower <= upper)
    for (uint64_t i = lower;; i++) {
      visited[i - first]++;
      if (i == upper) break;
    }
  __kmpc_for_static_fini(&place, number);
}

static unsigned distinct(const void **all) {
  const void *seen[MOST];
  int count = 0;
  for (int i = 0; i < N; i++) {
    int at = 0;
    while (at < count && seen[at] != all[i]) at++;
    if (at == count) seen[count++] = all[i];
  }
  return count;
}

static void print(const char *name, unsigned set) {
  const char *comma = " ";
  printf(" %s", name);
  for (int width = 0; width < 32; width++)
    if (set & 1u << width) printf("%s%d", comma, width), comma = ",";
}

int main(int argc, char **argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 1;
  int last = -1, last_chunked = -1, ordered = 0, sections[2] = {0, 0};
  long wrong = 0, fetched = 0, inner = 0;
  double sum = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel
  {
    int here; // its address tells threads apart without asking for their number
    for (int step = 0; step < steps; step++) {
      // Equal loops without a barrier between them: each iteration stays on its thread.
#pragma omp for nowait
      for (int i = 0; i < N; i++) { a[i] = step + i; owner[i] = &here; }
#pragma omp for schedule(static) nowait
      for (int i = 0; i < N; i++) {
        if (owner[i] != &here)
#pragma omp atomic
          wrong++;
        b[i] = a[i] * 2;
      }
#pragma omp for schedule(static, 7) nowait
      for (long i = 0; i < N; i++) { owner_of_chunks[i] = &here; visits[0][i]++; }
#pragma omp for schedule(static, 7) lastprivate(last_chunked)
      for (long i = 0; i < N; i++) {
        if (owner_of_chunks[i] != &here)
#pragma omp atomic
          wrong++;
        last_chunked = i;
      }
#pragma omp single
      {
        plain |= 1u << distinct(owner);
        chunked |= 1u << distinct(owner_of_chunks);
        wrong += last_chunked != N - 1;
        last_chunked = -1;
        for (int i = 0; i < N; i++) wrong += b[i] != 2.0 * (step + i);
      }
#pragma omp for lastprivate(last)
      for (unsigned i = 0; i < N; i++) { visits[1][i]++; last = i; }
#pragma omp single nowait
      { wrong += last != N - 1; }
#pragma omp for
      for (uint64_t i = 0; i < N; i += 2) visits[2][i]++;
#pragma omp for schedule(static, 1)
      for (int i = N - 1; i >= 0; i -= 3) visits[3][i]++;
      down_to_zero(N - 1, 1, 34, 1, visits[4]);
      down_to_zero(N - 1, 2, 33, 5, visits[5]);
#pragma omp barrier
      to_the_end(visits[6]);
      // Others beside them.
#pragma omp for schedule(dynamic, 11) reduction(+ : fetched)
      for (int i = 0; i < N; i++) fetched += i;
#pragma omp for ordered schedule(static)
      for (int i = 0; i < N; i++) {
#pragma omp ordered
        { wrong += ordered != i; ordered = i + 1; }
      }
#pragma omp sections
      {
#pragma omp section
        sections[0]++;
#pragma omp section
        sections[1]++;
      }
#pragma omp single
      { ordered = 0; }
      // Teams of one thread, and of two, inside of one thread of this one.
#pragma omp master
      {
#pragma omp parallel if (0)
        {
#pragma omp for
          for (int i = 0; i < N; i++) visits[7][i]++;
#pragma omp barrier
        }
#pragma omp parallel num_threads(2) reduction(+ : inner)
        {
#pragma omp for
          for (int i = 0; i < N; i++) inner += i;
#pragma omp barrier
        }
      }
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < N; i++) sum += b[i] - 2.0 * step;
    }
  }
  const long total = (long)N * (N - 1) / 2;
  wrong += fetched != steps * total;
  wrong += inner != steps * total;
  wrong += sum != 2.0 * steps * total;
  wrong += sections[0] != steps || sections[1] != steps;
  const int every[8] = {1, 1, 2, 3, 1, 2, 1, 1};
  for (int loop = 0; loop < 8; loop++)
    for (int i = 0; i < N; i++) wrong += visits[loop][i] != (i % every[loop] == 0 ? steps : 0);
  printf("wrong %ld", wrong);
  print("plain", plain);
  print("chunked", chunked);
  printf("\n");
  return wrong != 0;
}
