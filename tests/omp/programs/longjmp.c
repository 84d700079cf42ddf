/* Jumps within the body of a region, through frames of its own. */
#include "verify.h"
#include <setjmp.h>

__attribute__((noinline)) static void back(jmp_buf *place, int value) { longjmp(*place, value + 1); }

int main(void) {
    long total = 0;
    for (int step = 0; step < 40; step++) {
#pragma omp parallel for reduction(+ : total)
        for (int i = 0; i < 50; i++) {
            jmp_buf place;
            int value = setjmp(place);
            if (value == 0) back(&place, i);
            total += value;
        }
    }
    printf("%ld\n", total);
}
