/* Prefix sums, simd loops, and both in one. */
#include "verify.h"

enum { LENGTH = 333, STEPS = 40 };
static long in[LENGTH], out[LENGTH], twice[LENGTH];

int main(void) {
    long total = 0;
    for (int step = 0; step < STEPS; step++) {
        long sum = 0;
        for (int i = 0; i < LENGTH; i++) in[i] = i + step;
#pragma omp parallel for reduction(inscan, + : sum)
        for (int i = 0; i < LENGTH; i++) {
            sum += in[i];
#pragma omp scan inclusive(sum)
            out[i] = sum;
        }
#pragma omp parallel for simd schedule(simd : static, 4)
        for (int i = 0; i < LENGTH; i++) twice[i] = 2 * out[i];
        for (int i = 0; i < LENGTH; i++)
            VERIFY(twice[i] == 2 * ((long)i * (i + 1) / 2 + (i + 1L) * step));
        total += out[LENGTH - 1];
    }
    printf("%ld\n", total);
}
