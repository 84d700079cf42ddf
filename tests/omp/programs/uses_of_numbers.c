/* Regions with a static loop that also do something with their thread's number or the size of their team.
 * None can do with fewer threads than the program expects. */
#include "verify.h"
#include <omp.h>
#include <string.h>

enum { LENGTH = 400, MOST = 64, STEPS = 40 };
static double a[LENGTH], b[LENGTH];
static long partial[MOST];
static char text[STEPS * 16];
static int threads;

static long total(void) {
    long sum = 0;
    for (int thread = 0; thread < threads; thread++) sum += partial[thread] * (thread + 1);
    return sum;
}

/* The trace of a missing thread. */
static void spoil(void) {
    for (int thread = 0; thread < MOST; thread++) partial[thread] = -1000000;
}

__attribute__((noinline)) static void keep(int thread, long value) { partial[thread] = value; }
__attribute__((noinline)) static int fetch(const int *place) { return *place; }

static long stored_by_number(int n) {
#pragma omp parallel
    {
        long own = 0;
#pragma omp for
        for (int i = 0; i < n; i++) own += i;
        partial[omp_get_thread_num()] = 7;
    }
    return total();
}

static long passed(int n) {
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        keep(omp_get_thread_num(), n);
    }
    return total();
}

static long passed_by_reference(int n) {
#pragma omp parallel
    {
        int mine = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        partial[fetch(&mine)] = n + 1;
    }
    return total();
}

static long printed(int n) {
    text[0] = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
#pragma omp critical
        sprintf(text + strlen(text), "%d", omp_get_num_threads());
    }
    return (long)strlen(text);
}

static long last_thread(int n) {
    long number = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        if (omp_get_thread_num() == threads - 1) number = n;
    }
    return number;
}

static long size_of_the_team(int n) {
    long size = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        /* As the primary thread alone does. */
        if (omp_get_thread_num() == 0) size = omp_get_num_threads();
    }
    return size;
}

static long beside_the_index(int n) {
    static double own[MOST][LENGTH];
    memset(own, 0, sizeof own);
#pragma omp parallel
    {
        int mine = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) own[mine][i] = 1;
    }
    double sum = 0;
    for (int thread = 0; thread < threads; thread++)
        for (int i = 0; i < n; i++) sum += own[thread][i] * (thread + 1);
    return (long)sum;
}

static long chunk_of_its_own(int n) {
    memset(a, 0, sizeof a);
#pragma omp parallel
    {
        /* Counts on the threads that the program found before. */
        int size = (n + threads - 1) / threads, from = size * omp_get_thread_num();
        for (int i = from; i < from + size && i < n; i++) a[i] = 1;
#pragma omp barrier
#pragma omp for
        for (int i = 0; i < n; i++) b[i] = a[i];
    }
    double sum = 0;
    for (int i = 0; i < n; i++) sum += b[i];
    return (long)sum;
}

static long with_a_gap(int n) {
    memset(a, 0, sizeof a);
#pragma omp parallel
    {
        int size = n / omp_get_num_threads(), from = size * omp_get_thread_num();
        /* Nobody gets the rest. */
        for (int i = from; i < from + size - 1; i++) a[i] = 1;
    }
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i];
    return (long)sum;
}

static long seeds(int n) {
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        unsigned state = 17u * (unsigned)omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            sum += state >> 16;
        }
    }
    return sum;
}

static long strided(int n) {
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        int count = 0;
        for (int i = omp_get_thread_num(); i < n; i += omp_get_num_threads()) sum += i * ++count;
    }
    return sum;
}

static long in_a_switch(int n) {
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        switch (omp_get_thread_num()) {
        case 0: keep(0, 3); break;
        case 1: keep(1, 17); break;
        case 2: keep(2, n); break;
        case 3: keep(3, -1); break;
        default: keep(omp_get_thread_num(), 1);
        }
    }
    return total();
}

int main(void) {
    long (*const regions[])(int) = {
        stored_by_number, passed,          passed_by_reference, printed,    last_thread, size_of_the_team,
        beside_the_index, chunk_of_its_own, with_a_gap,          seeds,      strided,     in_a_switch,
    };
    enum { REGIONS = sizeof regions / sizeof *regions };
    long sums[REGIONS] = {0};
    threads = omp_get_max_threads();
    for (int step = 0; step < STEPS; step++)
        for (int region = 0; region < REGIONS; region++) {
            spoil();
            sums[region] += regions[region](LENGTH - step);
        }
    for (int region = 0; region < REGIONS; region++) printf("%d: %ld\n", region, sums[region]);
}
