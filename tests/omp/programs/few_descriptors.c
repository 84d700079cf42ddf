/* May have no more than ten open files, and opens all of them while regions run. */
#include "verify.h"
#include <sys/resource.h>

static long work(int steps) {
    long sum = 0;
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 300; i++) sum += i;
    }
    return sum;
}

int main(void) {
    struct rlimit ten = {10, 10};
    VERIFY(setrlimit(RLIMIT_NOFILE, &ten) == 0);
    printf("%ld\n", work(40));
    FILE *null = fopen("/dev/null", "w");
    VERIFY(null);
    fprintf(null, "%ld\n", work(10));
    VERIFY(fclose(null) == 0);
}
