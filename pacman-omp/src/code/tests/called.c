/* A region that calls functions with static loops. */
#include "team.h"

#define CALLED __attribute__((noinline, noclone, visibility("hidden")))

double a[4000];
int number;
long kept[64];

CALLED void shares(int n) {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = i;
}

CALLED double nested(int n) {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] += i;
    return a[n / 2];
}

CALLED double calls_another(int n) { return nested(n + 1) * 2; }

/* The number is what is left of a loop, and is answered. */
CALLED int answers(int n) {
    shares(n);
    return omp_get_thread_num() * 2;
}

CALLED void uses(int n) {
#pragma omp for
    for (int i = 0; i < n; i++) a[i] = i;
    kept[omp_get_thread_num()] = n;
}

CALLED int alone(void) { return omp_get_thread_num(); }

void calls(void) {
    int n = number;
#pragma omp parallel
    {
        shares(n);
        kept[0] += (long)calls_another(n);
        kept[1] += answers(n);
        uses(n);
        kept[2]++;
    }
}

void *functions[] = {(void *)shares, (void *)nested, (void *)answers, (void *)uses, (void *)alone};
