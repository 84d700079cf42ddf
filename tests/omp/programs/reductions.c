/* Every operator of a reduction, on scalars of several types and on an array. */
#include "verify.h"
#include <limits.h>

enum { LENGTH = 500, STEPS = 40 };

int main(void) {
    long total = 0;
    for (int step = 1; step <= STEPS; step++) {
        int sum = 5, less = 0, product = 1, both = -1, any = 0, odd = 0, all = 1, some = 0;
        long largest = LONG_MIN, smallest = LONG_MAX;
        double exact = 0.5;
        unsigned char narrow = 0;
        int histogram[7] = {0};
#pragma omp parallel for reduction(+ : sum, exact, narrow) reduction(- : less) reduction(* : product) \
    reduction(& : both) reduction(| : any) reduction(^ : odd) reduction(&& : all) reduction(|| : some) \
    reduction(max : largest) reduction(min : smallest) reduction(+ : histogram[:7])
        for (int i = 0; i < LENGTH; i++) {
            sum += i;
            less -= i;
            exact += 0.25 * i;
            narrow += i;
            product *= i == 17 ? 3 : 1;
            both &= ~(i & 0xF0);
            any |= i;
            odd ^= i;
            all = all && i >= 0;
            some = some || i == 499;
            if ((long)i * step > largest) largest = (long)i * step;
            if (-(long)i * step < smallest) smallest = -(long)i * step;
            histogram[i % 7]++;
        }
        VERIFY(sum == 5 + 499 * 250 && less == -499 * 250 && product == 3);
        VERIFY(exact == 0.5 + 0.25 * 499 * 250 && narrow == (unsigned char)(499 * 250));
        VERIFY(both == ~0xF0 && any == 511 && odd == 0 && all && some);
        VERIFY(largest == 499L * step && smallest == -499L * step);
        VERIFY(histogram[0] == 72 && histogram[6] == 71);
        total += sum + largest - smallest + histogram[3];
    }
    printf("%ld\n", total);
}
