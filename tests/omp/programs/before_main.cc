// Regions in constructors of static objects, and in their destructors.
#include "verify.h"

struct Table {
    long sum = 0;
    const char *name;
    explicit Table(const char *name) : name(name) { fill(20); }
    ~Table() {
        fill(10);
        printf("%s %ld\n", name, sum);
    }
    void fill(int steps) {
        for (int step = 0; step < steps; step++) {
#pragma omp parallel for reduction(+ : sum)
            for (int i = 0; i < 200; i++) sum += i;
        }
    }
};

static Table first("first"), second("second");

__attribute__((constructor(101))) static void early() {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += i;
    printf("early %ld\n", sum);
}

int main() {
    first.fill(5);
    printf("main %ld\n", first.sum + second.sum);
}
