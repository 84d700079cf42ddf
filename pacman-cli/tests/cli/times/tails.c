/* One region of two threads, whose executions differ as the argument says. It runs for a sixth of a second. Prints what
   it measured itself by the time stamp counter: the executions, the seconds of all from outside and from inside, which
   are those of the longer part of each, and the seconds of each thread's work in them. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

typedef struct {
    long first, second;
} Work;

static const char *kind;
static double worked[2][8], latest[2][8];
static unsigned long seed;

static double drawn(void) {
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (double)(seed >> 33) / (double)(1UL << 31);
}

static int is(const char *name) { return strcmp(kind, name) == 0; }

/* The ticks of both threads in an execution. `part` is the elapsed part of the run. */
static Work work(long at, double part) {
    if (is("rare")) return at % 700 == 699 ? (Work){3000000, 30000} : (Work){4000, 3600};
    if (is("burst")) return part > 0.5 && part < 0.75 ? (Work){500000, 2000000} : (Work){3000, 2700};
    if (is("growing")) return (Work){3000 + at, 3000};
    if (is("phases")) return at / 900 % 2 ? (Work){30000, 6000} : (Work){3000, 2900};
    if (is("alternate")) return at % 2 ? (Work){7000, 300} : (Work){300, 7000};
    double ticks = 2500.0 / (1.0 - drawn());
    if (ticks > 4e6) ticks = 4e6;
    return (Work){(long)ticks, (long)(ticks > 20000.0 ? 0.1 * ticks : 0.9 * ticks)};
}

static void region(Work own) {
#pragma omp parallel num_threads(2)
    {
        unsigned long begun = __rdtsc(), now = begun;
        int thread = omp_get_thread_num();
        long ticks = thread ? own.second : own.first;
        while ((long)(now - begun) < ticks) now = __rdtsc();
        latest[thread][0] = (double)(now - begun);
        worked[thread][0] += latest[thread][0];
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(int count, char **words) {
    kind = count > 1 ? words[1] : "rare";
    double from = now(), part = 0.0, all = 0.0, inside = 0.0;
    unsigned long begun = __rdtsc();
    seed = begun;
    long executions = 0;
    while (part < 1.0) {
        Work own = work(executions, part);
        unsigned long before = __rdtsc();
        region(own);
        all += (double)(__rdtsc() - before);
        inside += latest[0][0] > latest[1][0] ? latest[0][0] : latest[1][0];
        executions++;
        if (executions % 16 == 0) part = (now() - from) / 0.17;
    }
    double tick = (now() - from) / (double)(__rdtsc() - begun);
    printf("%ld %.9f %.9f ", executions, all * tick, inside * tick);
    printf("%.9f %.9f\n", worked[0][0] * tick, worked[1][0] * tick);
    return 0;
}
