/* As dynamic_chunks.c, for unsigned loops downwards. */
#include "verify.h"

enum { LENGTH = 8192, ROUNDS = 20 };
static int visits[LENGTH];

/* The bounds are not known to the compiler. */
__attribute__((noinline)) static void all(unsigned long long top, int round) {
#pragma omp parallel for schedule(dynamic)
    for (unsigned long long i = top; i > 0; i--) visits[i - 1]++;
#pragma omp parallel for schedule(runtime)
    for (unsigned long long i = top; i > 0; i--) visits[i - 1]++;
#pragma omp parallel for schedule(dynamic, 3)
    for (unsigned long long i = top; i > 1; i -= 2) visits[i - 1]++;
    for (unsigned long long i = 0; i < top; i++) VERIFY(visits[i] == round * (2 + (int)(i % 2)));
}

int main(void) {
    for (int round = 1; round <= ROUNDS; round++) all(LENGTH, round);
    printf("%d rounds\n", ROUNDS);
}
