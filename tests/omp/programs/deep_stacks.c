/* Deep recursion on every thread of the team, with stacks as OMP_STACKSIZE makes them. */
#include "verify.h"

__attribute__((noinline)) static long deep(int depth) {
    volatile char frame[2000];
    frame[0] = (char)depth;
    return depth == 0 ? 0 : frame[0] - (char)depth + 1 + deep(depth - 1);
}

int main(void) {
    long total = 0;
    for (int step = 0; step < 20; step++) {
#pragma omp parallel for reduction(+ : total) schedule(static, 1)
        for (int i = 0; i < 8; i++) total += deep(1200);
    }
    printf("%ld\n", total);
}
