/* Dynamic loops of short iterations: each iteration runs once, and a chunk stays whole. */
#include "verify.h"
#include <omp.h>

enum { LENGTH = 8192, ROUNDS = 20 };
static unsigned char visits[LENGTH];
static int of_chunk[LENGTH];

static void clear(void) {
    for (int i = 0; i < LENGTH; i++) visits[i] = 0;
}

static void each_once(int n) {
    for (int i = 0; i < n; i++) VERIFY(visits[i] == 1);
    for (int i = n; i < LENGTH; i++) VERIFY(visits[i] == 0);
    clear();
}

/* The bounds are not known to the compiler. */
__attribute__((noinline)) static void all(int n, long step, unsigned long top) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++) visits[i]++;
    each_once(n);
#pragma omp parallel for schedule(dynamic, 3)
    for (long i = n - 1; i >= 0; i -= step) visits[i]++;
    each_once(n);
#pragma omp parallel for schedule(dynamic)
    for (unsigned long i = 0; i < top; i++) visits[i]++;
    each_once(n);
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < n; i++) visits[i]++;
    each_once(n);
#pragma omp parallel for schedule(runtime)
    for (unsigned long i = 0; i < top; i += 1) visits[i]++;
    each_once(n);
#pragma omp parallel for schedule(monotonic : dynamic, 2) collapse(2)
    for (int i = 0; i < n / 64; i++)
        for (int j = 0; j < 64; j++) visits[64 * i + j]++;
    each_once(n);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < LENGTH; i++) visits[i]++;
    each_once(LENGTH);
#pragma omp parallel
    {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < n; i += 2) visits[i]++;
#pragma omp for schedule(dynamic, 4)
        for (int i = 1; i < n; i += 2) visits[i]++;
    }
    each_once(n);
}

/* The iterations of a chunk run on one thread, in order, with nothing of it between them. */
__attribute__((noinline)) static void chunks_stay_whole(int n) {
    static int latest[64][16];
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < n; i++) {
        int *mine = latest[omp_get_thread_num() % 64];
        of_chunk[i] = i % 8 == 0 || *mine == i - 1;
        *mine = i;
    }
    for (int i = 0; i < n; i++) VERIFY(of_chunk[i]);
}

int main(void) {
    for (int round = 0; round < ROUNDS; round++) {
        all(LENGTH - 64 * (round % 2), 1, LENGTH - 64 * (round % 2));
        chunks_stay_whole(LENGTH);
    }
    printf("%d rounds\n", ROUNDS);
}
