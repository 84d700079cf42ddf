// Exceptions thrown and caught inside regions, and around them by the thread that runs them.
#include "verify.h"
#include <stdexcept>
#include <string>

static long thrown(int i) {
    if (i % 10 == 3) throw std::runtime_error("at " + std::to_string(i));
    return i;
}

int main() {
    long sum = 0, caught = 0, around = 0;
    for (int step = 0; step < 40; step++) {
#pragma omp parallel for reduction(+ : sum, caught)
        for (int i = 0; i < 100; i++) {
            try {
                sum += thrown(i);
            } catch (const std::runtime_error &error) {
                caught += std::string(error.what()).size();
            }
        }
        try {
#pragma omp parallel
            {
#pragma omp critical
                sum++;
#pragma omp barrier
#pragma omp critical
                sum--;
            }
            throw step;
        } catch (int value) {
            around += value;
        }
    }
    printf("%ld %ld %ld\n", sum, caught, around);
}
