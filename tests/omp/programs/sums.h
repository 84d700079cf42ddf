/* For programs that need regions, whatever is in them. */
#ifndef SUMS_H
#define SUMS_H

/* Runs so many regions, each with a sum to which all members add. */
static long work(int steps) {
    long sum = 0;
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 300; i++) sum += i;
    }
    return sum;
}

#endif
