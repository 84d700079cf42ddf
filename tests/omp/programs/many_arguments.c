/* Regions that share from none to 36 variables with the code around them. */
#include "verify.h"

#define FOUR(M, n) M(n##0) M(n##1) M(n##2) M(n##3)
#define ALL(M) FOUR(M, a) FOUR(M, b) FOUR(M, c) FOUR(M, d) FOUR(M, e) FOUR(M, f) FOUR(M, g) FOUR(M, h) FOUR(M, k)
#define DECLARE(name) long name = 0;
#define ADD(name) __sync_fetch_and_add(&name, step);
#define SUM(name) sum += name * ++weight;

static long global;

int main(void) {
    ALL(DECLARE)
    float single = 0.5f;
    double wide = 0.25;
    struct { char bytes[40]; } block = {"a structure by value"};
    long members = 0;
    for (int step = 0; step < 50; step++) {
#pragma omp parallel
#pragma omp atomic
        global++;
#pragma omp parallel shared(step)
        {
#pragma omp single
            { FOUR(ADD, a) }
        }
#pragma omp parallel firstprivate(single, wide, block) shared(step)
        {
            VERIFY(single == 0.5f && wide == 0.25 && block.bytes[2] == 's');
#pragma omp single
            { FOUR(ADD, a) FOUR(ADD, b) FOUR(ADD, c) FOUR(ADD, d) }
#pragma omp atomic
            members++;
        }
#pragma omp parallel
        {
#pragma omp single
            { ALL(ADD) }
        }
    }
    long sum = 0, weight = 0;
    ALL(SUM)
    VERIFY(global == members);
    printf("%ld %ld\n", sum, members);
}
