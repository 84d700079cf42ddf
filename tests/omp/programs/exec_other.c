/* Replaces itself by another OpenMP program: itself, with an argument. */
#include "verify.h"
#include <unistd.h>

int main(int count, char **arguments) {
    long sum = 0;
    int steps = count > 1 ? 20 : 30;
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 300; i++) sum += i;
    }
    printf("%s %ld\n", count > 1 ? "second" : "first", sum);
    fflush(stdout);
    if (count == 1) {
        execl("/proc/self/exe", arguments[0], "again", (char *)NULL);
        return 9;
    }
    return 4;
}
