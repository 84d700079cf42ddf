/* Has every floating-point operation trap that is not exact, and looks at the flags in the end: what
 * is computed beside the program must neither end it nor show. */
#include "verify.h"
#include <xmmintrin.h>

/* Nothing is masked, no flag is set, and rounding is upwards. */
enum { UNUSUAL = 0x4000 };

static long sum;

static void work(int steps, int size) {
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int i = 0; i < size; i++) sum += i % 7;
    }
}

static void dynamic(int steps) {
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for schedule(dynamic, 50) reduction(+ : sum)
        for (int i = 0; i < 20000; i++) sum += i % 5;
    }
}

int main(void) {
    /* LLVM's runtime computes with such numbers itself, when it begins. */
    work(1, 1);
    _mm_setcsr(UNUSUAL);
    work(40, 100);
    work(60, 40000);
    dynamic(40);
#pragma omp parallel
    for (int step = 0; step < 30; step++) {
#pragma omp for schedule(static) reduction(+ : sum)
        for (int i = 0; i < 3000; i++) sum += i % 3;
    }
    VERIFY(_mm_getcsr() == UNUSUAL);
    printf("%ld\n", sum);
}
