/* Tasks that make tasks: tied, untied, final, with priorities, waited for and not. */
#include "verify.h"

enum { STEPS = 12 };

static int fibonacci(int n) {
    if (n < 2) return n;
    int first, second;
#pragma omp task shared(first) final(n < 5) mergeable
    first = fibonacci(n - 1);
#pragma omp task shared(second) if (n > 3) priority(n)
    second = fibonacci(n - 2);
#pragma omp taskwait
    return first + second;
}

int main(void) {
    long total = 0, loose = 0;
    for (int step = 0; step < STEPS; step++) {
        int result = 0;
#pragma omp parallel
        {
#pragma omp single nowait
            result = fibonacci(12);
#pragma omp single nowait
#pragma omp task untied
            {
#pragma omp atomic
                loose += 1;
#pragma omp taskyield
            }
        }
        VERIFY(result == 144);
        total += result;
        /* Nobody waits for these but the end of the region. */
#pragma omp parallel
#pragma omp master
        for (int task = 0; task < 30; task++) {
#pragma omp task firstprivate(task)
#pragma omp atomic
            loose += task;
        }
    }
    printf("%ld %ld\n", total, loose);
}
