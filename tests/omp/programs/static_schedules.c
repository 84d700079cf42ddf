/* Static loops of many bounds, steps and types, in a program that asks how many threads there may be. GCC's
 * code for them asks for numbers, and does nothing else with these. */
#include "verify.h"
#include <omp.h>

enum { LENGTH = 600, STEPS = 30 };
static double a[LENGTH], b[LENGTH];
static int cells[LENGTH], visits[LENGTH];
static long table[12][50];

/* The bounds are not known to the compiler. */
__attribute__((noinline)) static long plain(int n) {
    for (int i = 0; i < n; i++) visits[i] = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) visits[i] += i + 1;
    long sum = 0;
    for (int i = 0; i < n; i++) {
        VERIFY(visits[i] == i + 1);
        sum += visits[i];
    }
    return sum;
}

__attribute__((noinline)) static long of_types(long from, long to, long step, unsigned top) {
    long sum = 0;
    unsigned long last = 0;
    int final = -1;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = from; i < to; i += step) sum += i;
#pragma omp parallel for schedule(static) reduction(+ : sum) lastprivate(last)
    for (unsigned long i = 3; i < 400; i += 7) {
        sum += (long)i;
        last = i;
    }
#pragma omp parallel for schedule(static) reduction(+ : sum) lastprivate(final)
    for (unsigned i = top; i > 2; i -= 3) {
        sum += i;
        final = (int)i;
    }
#pragma omp parallel for schedule(static) reduction(max : final)
    for (int i = 40; i >= -40; i--)
        if (i * i % 97 > final) final = i * i % 97;
    return sum + (long)last + final;
}

__attribute__((noinline)) static long collapsed(int rows, int columns) {
    long last = 0, sum = 0;
#pragma omp parallel for collapse(2) lastprivate(last)
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            table[i][j] = i * 100 + j;
            last = table[i][j];
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) sum += table[i][j];
    return sum + last;
}

__attribute__((noinline)) static double chain(int n, int m) {
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++) a[i] = i;
#pragma omp for nowait
        for (int i = 0; i < n; i++) b[i] = a[i] * 2;
#pragma omp for
        for (int i = 0; i < n; i++) a[i] += b[i];
#pragma omp for
        for (int i = m; i >= 0; i -= 2) b[i] = a[m - i] + 1;
#pragma omp for
        for (int i = 0; i < LENGTH; i++) cells[i] = (int)(a[i] + b[i]);
    }
    double sum = 0;
    for (int i = 0; i < LENGTH; i++) sum += cells[i];
    return sum;
}

__attribute__((noinline)) static double repeated(int n, int turns) {
#pragma omp parallel
    for (int turn = 0; turn < turns; turn++) {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = a[i] * 0.5 + turn;
#pragma omp for
        for (int i = 1; i < n - turn; i++) b[i] = a[i - 1] + a[i];
    }
    return a[n / 2] + b[n / 3];
}

__attribute__((noinline)) static long with_locks(int n) {
    long sum = 0, parts = 0;
#pragma omp parallel
    {
        long own = 0;
#pragma omp for nowait
        for (int i = 0; i < n; i++) own += i % 7;
#pragma omp critical
        sum += own;
#pragma omp for
        for (int i = 0; i < n; i++) {
            if (i % 50 == 0) {
#pragma omp atomic
                parts++;
            }
        }
    }
    return sum * 100 + parts;
}

int main(void) {
    long whole = 0;
    double exact = 0;
    /* The region behind this question is adapted as well: a thread without iterations does nothing. */
    int most = omp_get_max_threads();
    for (int step = 1; step <= STEPS; step++) {
        whole += plain(step * 20) + of_types(-step, 50 * step, step, 1000u - step);
        whole += collapsed(1 + step % 12, 50) + with_locks(step * 17);
        exact += chain(LENGTH - step, LENGTH - 2 * step) + repeated(LENGTH, step % 5);
    }
    VERIFY(most >= 1);
    printf("%ld %.3f\n", whole, exact);
}
