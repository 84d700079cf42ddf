// A program that limits its address space before its first region: to what it has, and as many MiB more as it is
// told. Its 2,000 regions take more than the first memory for recordings. It prints the kB that it had.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static long total;

#define REGION \
  _Pragma("omp parallel num_threads(2)") { \
    _Pragma("omp atomic") total++; \
  }
#define TEN(THING) THING THING THING THING THING THING THING THING THING THING
#define HUNDRED TEN(TEN(REGION))
#define PART(name) \
  static void name(void) { HUNDRED }

PART(a) PART(b) PART(c) PART(d) PART(e) PART(f) PART(g) PART(h) PART(i) PART(j)
PART(k) PART(l) PART(m) PART(n) PART(o) PART(p) PART(q) PART(r) PART(s) PART(t)

int main(int count, char **words) {
  void (*parts[])(void) = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t};
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1 || fclose(file)) return 2;
  rlim_t bytes = pages * 4096 + ((rlim_t)atoi(words[count - 1]) << 20);
  if (setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes})) return 2;
  for (int at = 0; at < 20; at++) parts[at]();
  printf("%lu %ld\n", pages * 4, total);
  return 0;
}
