/* The time of a region, in nanoseconds: the shortest and the median of several rounds.
 *
 * usage: regions empty|loop|wait|reads|clock [regions in a round] [rounds]
 *   empty   regions with nothing in them
 *   loop    regions with a static loop of an iteration for each thread, which may be adapted
 *   wait    one region, in which each thread takes and releases its own lock N times
 *   reads   no regions: two bare reads of a group of four software events
 *   clock   no regions: two readings of the time stamp counter */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1000 };

static void empty(long regions) {
    for (long region = 0; region < regions; region++) {
#pragma omp parallel
        __asm__ volatile("" ::: "memory");
    }
}

static int threads;

static void loop(long regions) {
    for (long region = 0; region < regions; region++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < threads; i++) __asm__ volatile("" ::: "memory");
    }
}

static void wait(long waits) {
#pragma omp parallel
    {
        omp_lock_t lock;
        omp_init_lock(&lock);
        for (long i = 0; i < waits; i++) {
            omp_set_lock(&lock);
            omp_unset_lock(&lock);
        }
        omp_destroy_lock(&lock);
    }
}

static void clock_twice(long pairs) {
    for (long pair = 0; pair < 2 * pairs; pair++) {
        /* Used, so that no reading overlaps the next one. */
        uint64_t ticks = __builtin_ia32_rdtsc();
        __asm__ volatile("" : : "r"(ticks) : "memory");
    }
}

static int group = -1;

static void reads(long pairs) {
    uint64_t words[3 + 4];
    for (long pair = 0; pair < 2 * pairs; pair++) {
        if (read(group, words, sizeof words) != sizeof words) abort();
    }
}

static int open_group(void) {
    static const uint64_t events[] = {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
                                      PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS};
    for (int event = 0; event < 4; event++) {
        struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE};
        attr.config = events[event];
        attr.exclude_hv = 1;
        attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                           PERF_FORMAT_TOTAL_TIME_RUNNING;
        int file = syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);
        if (file < 0) return 0;
        if (event == 0) group = file;
    }
    return 1;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    long in_round = count > 2 ? atol(arguments[2]) : 1000;
    int rounds = count > 3 ? atoi(arguments[3]) : 50;
    void (*run)(long) = 0;
    if (count > 1 && !strcmp(arguments[1], "empty")) run = empty;
    if (count > 1 && !strcmp(arguments[1], "loop")) run = loop;
    if (count > 1 && !strcmp(arguments[1], "wait")) run = wait;
    if (count > 1 && !strcmp(arguments[1], "reads")) run = reads;
    if (count > 1 && !strcmp(arguments[1], "clock")) run = clock_twice;
    if (!run || in_round < 1 || rounds < 1 || rounds > MOST) return 2;
    if (run == reads && !open_group()) {
        perror("perf_event_open");
        return 1;
    }
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    /* Decisions are made, and threads started, before it counts. */
    run(10 * in_round);
    static double taken[MOST];
    for (int round = 0; round < rounds; round++) {
        double begun = now();
        run(in_round);
        taken[round] = (now() - begun) / in_round;
    }
    qsort(taken, rounds, sizeof *taken, ascending);
    printf("%.1f %.1f\n", taken[0], taken[rounds / 2]);
    return 0;
}
