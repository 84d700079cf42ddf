/* Has every floating-point operation trap that is not exact, and looks at the flags in the end: what
 * is computed beside the program must neither end it nor show. */
#include "verify.h"

/* Nothing is masked, no flag is set, and rounding is upwards. */
#if defined __x86_64__
#include <xmmintrin.h>
enum { UNUSUAL = 0x4000 };
static void set(unsigned state) { _mm_setcsr(state); }
static unsigned get(void) { return _mm_getcsr(); }
#elif defined __aarch64__
/* FPCR, whose bits for traps few processors have, and the flags of FPSR. */
enum { UNUSUAL = 1 << 22 };
static void set(unsigned state) {
    unsigned long control = state, flags = 0;
    __asm__ volatile("msr fpcr, %0\n msr fpsr, %1" : : "r"(control), "r"(flags));
}
static unsigned get(void) {
    unsigned long control, flags;
    __asm__ volatile("mrs %0, fpcr\n mrs %1, fpsr" : "=r"(control), "=r"(flags));
    return control | flags;
}
#endif

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
    set(UNUSUAL);
    work(40, 100);
    work(60, 40000);
    dynamic(40);
#pragma omp parallel
    for (int step = 0; step < 30; step++) {
#pragma omp for schedule(static) reduction(+ : sum)
        for (int i = 0; i < 3000; i++) sum += i % 3;
    }
    VERIFY(get() == UNUSUAL);
    printf("%ld\n", sum);
}
