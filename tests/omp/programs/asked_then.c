/* A region that had better be narrow runs until whoever adapts it is done with that. Then the program asks for the size
 * of its teams: the next execution must have that size, not one after a few more. */
#include "verify.h"
#include <omp.h>

enum { PIECES = 32, UNTIL_HELD = 200, MORE = 15 };
static volatile long sum;

/* The size of its team. The threads mostly wait for each other. */
static int members(void) {
    int members = 0;
#pragma omp parallel reduction(+ : members)
    {
        members = 1;
#pragma omp for
        for (int piece = 0; piece < PIECES; piece++)
#pragma omp critical
            for (int step = 0; step < 200; step++) sum += step;
    }
    return members;
}

int main(void) {
    int threads = omp_get_max_threads();
    for (int turn = 0; turn < UNTIL_HELD; turn++) {
        int open = members();
        VERIFY(open >= 1 && open <= threads);
    }
    for (int turn = 0; turn < MORE; turn++) {
        int inside = 0;
#pragma omp parallel num_threads(1)
        inside = members();
        VERIFY(inside == threads);
    }
    omp_set_num_threads(threads);
    for (int turn = 0; turn < MORE; turn++) VERIFY(members() == threads);
    omp_set_num_threads(2 * threads);
    for (int turn = 0; turn < MORE; turn++) VERIFY(members() == 2 * threads);
    printf("%ld\n", sum);
    return 0;
}
