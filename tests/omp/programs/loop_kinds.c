/* Loops of every type and direction: unsigned, 64-bit, downwards, strided, empty, collapsed, linear. */
#include "verify.h"
#include <limits.h>

enum { STEPS = 30 };

int main(void) {
    unsigned long long total = 0;
    for (int step = 1; step <= STEPS; step++) {
        unsigned u = 0;
        long n64 = 0, down = 0, empty = 0, square = 0, far = 0;
        unsigned long long top = 0, beyond = 0;
        int last = -1, position = 100;
        short tiny = 0;
#pragma omp parallel
        {
#pragma omp for reduction(+ : u) schedule(static, 3) nowait
            for (unsigned i = UINT_MAX - 50; i < UINT_MAX; i++) u += UINT_MAX - i;
#pragma omp for reduction(+ : n64) schedule(static)
            for (long i = -5000000000L; i < 5000000000L; i += 400000000L) n64 += i / 100000000L;
#pragma omp for reduction(+ : down) schedule(static) lastprivate(last)
            for (int i = 99; i > -step; i -= 7) { down += i; last = i; }
#pragma omp for reduction(+ : empty)
            for (int i = 10; i < 10 - step; i++) empty++;
#pragma omp for reduction(+ : square) collapse(3) schedule(static, 2)
            for (int i = 0; i < 4; i++)
                for (int j = 5; j > 0; j--)
                    for (long k = 0; k < 6; k += 2) square += i * j * k;
#pragma omp for reduction(+ : top) schedule(dynamic, 2)
            for (unsigned long long i = ULLONG_MAX - 40; i < ULLONG_MAX - 3; i += 2) top += ULLONG_MAX - i;
#pragma omp for reduction(+ : far) schedule(guided)
            for (long i = LONG_MAX - 33; i != LONG_MAX; i++) far += LONG_MAX - i;
#pragma omp for linear(position : 2)
            for (int i = 0; i < 37; i++) position += 2;
#pragma omp for reduction(+ : tiny)
            for (short i = 10; i >= 0; i--) tiny += i;
        }
#pragma omp parallel for schedule(dynamic) reduction(+ : beyond)
        for (unsigned long long i = 1ULL << 63; i > (1ULL << 63) - 70; i -= 4) beyond += i & 0xFF;
        VERIFY(u == 1275 && n64 == -50 && empty == 0 && far == 33 * 34 / 2 && position == 174);
        VERIFY(tiny == 55 && last <= 0 + 1 && top == 418);
        total += u + n64 + down + square + top + beyond + last;
    }
    printf("%llu\n", total);
}
