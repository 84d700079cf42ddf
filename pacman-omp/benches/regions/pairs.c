/* The cost of a preloaded library in a region, told apart from what the machine does meanwhile: the
 * region is started by turns through the library and by the runtime's own entry, in blocks, in the
 * same process, by the same threads.
 *
 * Prints the nanoseconds of a region started by the runtime's entry, and how many more the library
 * took: means over all regions but the slowest twentieth, which were disturbed. The linker is to be
 * told to wrap the entry (-Wl,--wrap=GOMP_parallel or -Wl,--wrap=__kmpc_fork_call).
 *
 * usage: pairs loop|long [blocks] [regions in a block]
 *   loop    a static loop of an iteration for each thread
 *   long    the same, and each iteration waits for some thirty microseconds to pass, which takes as
 *           long however fast the machine is at the moment */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define ENTRY __kmpc_fork_call
#define RUNTIMES "libomp.so.5", "libomp.so", "libiomp5.so"
#define PARAMETERS void *place, int count, void *body, ...
/* Its bodies here take no words. */
#define ARGUMENTS place, count, body
#else
#define ENTRY GOMP_parallel
#define RUNTIMES "libgomp.so.1"
#define PARAMETERS void (*body)(void *), void *data, unsigned threads, unsigned flags
#define ARGUMENTS body, data, threads, flags
#endif
#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)
#define TEXT(name) #name
#define NAME(name) TEXT(name)

/* The library whose entry starts the next region. */
enum { RUNTIME_S, WHOEVER_IS_FIRST, BOTH };
static int whose = WHOEVER_IS_FIRST;
static void (*runtime_s)(PARAMETERS);

void NAMED(__real_, ENTRY)(PARAMETERS);
void NAMED(__wrap_, ENTRY)(PARAMETERS);
void NAMED(__wrap_, ENTRY)(PARAMETERS) {
    if (whose == RUNTIME_S)
        runtime_s(ARGUMENTS);
    else
        NAMED(__real_, ENTRY)(ARGUMENTS);
}

static int threads;

static void loop(void) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < threads; i++) __asm__ volatile("" ::: "memory");
}

static void lasting(void) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < threads; i++) {
        uint64_t end = __builtin_ia32_rdtsc() + 70000;
        while (__builtin_ia32_rdtsc() < end);
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double mean_of_most(uint64_t *ticks, long count) {
    long most = count - count / 20;
    double sum = 0;
    qsort(ticks, count, sizeof *ticks, ascending);
    for (long i = 0; i < most; i++) sum += ticks[i];
    return sum / most;
}

int main(int count, char **arguments) {
    long blocks = count > 2 ? atol(arguments[2]) : 100, in_block = count > 3 ? atol(arguments[3]) : 50;
    void (*region)(void) = 0;
    if (count > 1 && !strcmp(arguments[1], "loop")) region = loop;
    if (count > 1 && !strcmp(arguments[1], "long")) region = lasting;
    if (!region || blocks < 1 || in_block < 1) return 2;
    const char *const names[] = {RUNTIMES};
    for (size_t i = 0; i < sizeof names / sizeof *names && !runtime_s; i++) {
        void *runtime = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
        if (runtime) runtime_s = (void (*)(PARAMETERS))dlsym(runtime, NAME(ENTRY));
    }
    long all = blocks * in_block;
    uint64_t *ticks = malloc(BOTH * all * sizeof *ticks);
    if (!runtime_s || !ticks) {
        fprintf(stderr, "the runtime's own %s was not found\n", NAME(ENTRY));
        return 1;
    }
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    /* Decisions are made, and threads started, before it counts. */
    for (int i = 0; i < 2000; i++) region();

    double begun = now();
    uint64_t first = __builtin_ia32_rdtsc();
    for (long block = 0; block < blocks; block++) {
        for (int turn = 0; turn < BOTH; turn++) {
            /* The second one is first next time. */
            whose = (turn + block) % BOTH;
            /* The first after the other's is not like those that follow. */
            region();
            for (long i = 0; i < in_block; i++) {
                uint64_t before = __builtin_ia32_rdtsc();
                region();
                ticks[whose * all + block * in_block + i] = __builtin_ia32_rdtsc() - before;
            }
        }
    }
    double tick = (now() - begun) / (__builtin_ia32_rdtsc() - first);
    double bare = mean_of_most(ticks + RUNTIME_S * all, all) * tick;
    double through = mean_of_most(ticks + WHOEVER_IS_FIRST * all, all) * tick;
    printf("%.1f %.1f\n", bare, through - bare);
    return 0;
}
