/* Sections: as a region of their own, and inside one, with what the last one leaves. */
#include "verify.h"

enum { STEPS = 60 };

int main(void) {
    long a = 0, b = 0, c = 0, last = 0;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel sections
        {
#pragma omp section
            a += step;
#pragma omp section
            b += 2 * step;
#pragma omp section
            c += 3 * step;
        }
        int left = -1;
#pragma omp parallel
        {
#pragma omp sections lastprivate(left) reduction(+ : last)
            {
#pragma omp section
                { left = 1; last += 1; }
#pragma omp section
                { left = 2; last += 10; }
#pragma omp section
                { left = 3; last += 100; }
#pragma omp section
                { left = 4; last += 1000; }
            }
            VERIFY(left == 4);
        }
        VERIFY(left == 4);
    }
    printf("%ld %ld %ld %ld\n", a, b, c, last);
}
