/* A region that takes ten times as long for a while, again and again: whoever holds a number of threads
 * for it has to think it over. */
#include "verify.h"

enum { PIECES = 64, SHORT = 40, LONG = 400, EXECUTIONS = 360, STRETCH = 45 };

static double run(int length) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int piece = 0; piece < PIECES; piece++) {
        volatile int step;
        for (step = 0; step < length; step++)
            ;
        sum += step;
    }
    return sum;
}

int main(void) {
    for (int execution = 0; execution < EXECUTIONS; execution++) {
        int length = execution / STRETCH % 2 ? LONG : SHORT;
        VERIFY(run(length * 10) == (double)length * 10 * PIECES);
    }
    puts("done");
}
