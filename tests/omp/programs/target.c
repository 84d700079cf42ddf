/* Offloading without a device: all of it runs on the host. */
#include "verify.h"

enum { LENGTH = 300, STEPS = 20 };
static long values[LENGTH];

int main(void) {
    long total = 0;
    for (int step = 0; step < STEPS; step++) {
        long sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : values) num_teams(2) thread_limit(4)
        for (int i = 0; i < LENGTH; i++) values[i] += i;
#pragma omp target map(tofrom : sum) map(to : values)
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < LENGTH; i++) sum += values[i];
        VERIFY(sum == (step + 1) * 44850L);
        total += sum;
    }
    printf("%ld\n", total);
}
