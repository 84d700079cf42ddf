/* Static loops of all kinds: each region is proved. */
#include "team.h"

enum { MOST = 4000 };
double a[MOST], b[MOST];
float single[MOST];
int number, other, last;
unsigned positive;
long wide, sum;
unsigned long widest;
volatile int seen;

void plain(void) {
    int n = number;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) a[i] = b[i] * 2;
}

void of_constant_length(void) {
#pragma omp parallel for
    for (int i = 0; i < 1000; i++) a[i] = b[i] + 1;
}

void of_long(void) {
    long n = wide;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 3; i < n; i += 7) sum += i * i;
}

void of_unsigned_long(void) {
    unsigned long n = widest;
#pragma omp parallel for
    for (unsigned long i = 0; i < n; i += 2) a[i % MOST] = i;
}

void downwards_with_last(void) {
    unsigned n = positive;
#pragma omp parallel for lastprivate(last)
    for (unsigned i = n; i > 5; i -= 3) {
        last = (int)i;
        a[i] = 1;
    }
}

void of_step_in_memory(void) {
    int step = other;
#pragma omp parallel for
    for (int i = number; i > 0; i -= step) a[i] = i;
}

void collapsed(void) {
    int n = number, m = other;
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) a[i * m + j] = i - j;
}

void collapsed_three(void) {
    int n = number, m = other;
#pragma omp parallel for collapse(3) lastprivate(last)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < 9; k++) {
                single[i * m + j + k] = i - j * k;
                last = i + j + k;
            }
}

void several(void) {
    int n = number, m = other;
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = b[i] * 2;
#pragma omp for
        for (int i = 0; i < n; i++) b[i] = a[i] * 2;
#pragma omp for
        for (int i = 0; i < m; i++) single[i] = i;
#pragma omp for
        for (int i = 0; i < 100; i++) a[i] += i;
#pragma omp for
        for (int i = 0; i < 100; i++) b[i] += i;
    }
}

void repeated(void) {
    int n = number;
#pragma omp parallel
    for (int step = 0; step < 10; step++) {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += b[i];
#pragma omp for
        for (int i = 1; i < n - step; i++) b[i] = a[i - 1];
    }
}

void with_calls(void) {
    int n = number;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double place[3] = {a[i], b[i], i};
        elsewhere((long)place);
        a[i] = some_double(place[1]) + place[0];
    }
}

void with_critical(void) {
    int n = number;
#pragma omp parallel
    {
        long own = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) own += i;
#pragma omp critical
        sum += own;
    }
}

void with_reductions(void) {
    int n = number, least = 1 << 30;
    double whole = 0;
#pragma omp parallel for reduction(min : least) reduction(+ : whole)
    for (int i = 0; i < n; i++) {
        whole += a[i];
        if (i * 7 % 13 < least) least = i * 7 % 13;
    }
    seen = least + (int)whole;
}

void of_condition(void) {
    int n = number;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (a[i] > 0.5)
            b[i] = 1;
        else if (b[i] > 2)
            a[i] = b[i];
    }
}

void of_constant_unsigned_length(void) {
#pragma omp parallel for reduction(+ : sum) lastprivate(wide)
    for (unsigned long i = 3; i < 400; i += 7) {
        sum += (long)i;
        wide = (long)i;
    }
}

void sunk(void) {
    int n = number, m = other;
    double *from = a, *to = b;
#pragma omp parallel for
    for (int i = 0; i < n - 1; i++)
        for (int j = 0; j < m; j++) {
            double place[16];
            for (int k = 0; k < 16; k++) place[k] = from[i + j + k];
            to[i * m + j] = place[j % 16] + place[i % 16];
        }
}
