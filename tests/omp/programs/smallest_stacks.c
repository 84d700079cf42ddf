/* Workers with the smallest stacks that the system allows, who look how much of them is used. */
#define _GNU_SOURCE
#include "verify.h"
#include <omp.h>
#include <pthread.h>

/* New stacks are zeros: how far down they are not. */
static size_t used_so_far(void) {
    pthread_attr_t attributes;
    void *lowest;
    size_t size, untouched = 0;
    VERIFY(pthread_getattr_np(pthread_self(), &attributes) == 0);
    VERIFY(pthread_attr_getstack(&attributes, &lowest, &size) == 0);
    pthread_attr_destroy(&attributes);
    while (untouched < size && ((volatile char *)lowest)[untouched] == 0) untouched++;
    return size - untouched;
}

int main(void) {
    long total = 0;
    size_t most = 0;
    for (int step = 0; step < 60; step++) {
#pragma omp parallel for reduction(+ : total) schedule(dynamic, 20)
        for (int i = 0; i < 200; i++) total += i;
#pragma omp parallel reduction(max : most)
        {
#pragma omp for
            for (int i = 0; i < 64; i++)
                if (omp_get_thread_num() > 0) most = used_so_far();
        }
    }
    /* Alone it is 6.5 kB with libgomp and 8.5 kB with LLVM's runtime, most of it what the C library
       keeps at the top. */
    VERIFY(most > 0 || omp_get_max_threads() == 1);
    /* The library adds up to 0.8 kB, and without optimisation up to 4.2. */
    VERIFY(most < 14 << 10);
    printf("%ld\n", total);
}
