/* A thread of a team takes a policy with a deadline, which the kernel grants only to a thread with all contexts. */
#define _GNU_SOURCE
#include "verify.h"
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* `struct sched_attr` of the kernel. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

static int with_deadline(void) {
    struct attributes deadline = {sizeof deadline, 6, 0, 0, 0, 1000000, 100000000, 100000000};
    struct attributes usual = {sizeof usual};
    if (syscall(SYS_sched_setattr, 0, &deadline, 0)) return 0;
    VERIFY(syscall(SYS_sched_setattr, 0, &usual, 0) == 0);
    return 1;
}

int main(void) {
    /* Their threads wait for each other, so they are packed where that is tried. */
    long entries = 0;
    for (int step = 0; step < 400; step++) {
#pragma omp parallel
        for (int i = 0; i < 60; i++) {
#pragma omp critical
            entries++;
        }
    }
    int granted = 0, refused = 0;
    for (int step = 0; step < 40; step++) {
#pragma omp parallel reduction(+ : granted, refused)
        {
#pragma omp single
            {
                if (with_deadline()) granted++;
                else refused++;
            }
            for (int i = 0; i < 60; i++) {
#pragma omp critical
                entries++;
            }
        }
    }
    /* Some kernels, and users without the right, are refused each time. */
    VERIFY(granted == 0 || refused == 0);
    printf("%s\n", granted ? "granted" : "refused");
}
