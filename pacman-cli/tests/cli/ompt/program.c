/* Two regions of three threads, 50 executions each, with a barrier and a critical section. */
#include <stdio.h>
int runtime_reports(void);
int main(void) {
    long sum = 0;
    for (int turn = 0; turn < 50; turn++) {
#pragma omp parallel
        {
#pragma omp critical
            sum += 1;
#pragma omp barrier
        }
#pragma omp parallel
        {
#pragma omp critical
            sum += 100;
        }
    }
    printf("%ld %s\n", sum, runtime_reports() ? "told" : "not told");
    return sum == 15150 ? 3 : 4;
}
