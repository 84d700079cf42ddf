/* Static loops in C++: each region is proved. */
#include "team.h"

double a[4000], b[4000];
int number;
long sum;

struct Cleaned {
    long kept;
    explicit Cleaned(long of) : kept(of) { elsewhere(of); }
    ~Cleaned() { elsewhere(-kept); }
};

template <typename Act> static void each(int n, Act act) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) act(i);
}

extern "C" {

void with_handler(void) {
    int n = number;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        try {
            elsewhere(i);
        } catch (int number) {
            a[i] = number;
        } catch (...) {
            elsewhere(-1);
        }
    }
}

void with_destructor(void) {
    int n = number;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        Cleaned one(i);
        elsewhere(2);
        sum += one.kept;
    }
}

void with_closure(void) {
    double factor = number;
    each(number, [=](int i) { a[i] = b[i] * factor; });
}

void with_two_loops(void) {
    int n = number;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) {
            try {
                a[i] = some_double(b[i]);
            } catch (long) {
                b[i] = 0;
            }
        }
#pragma omp for
        for (int i = 1; i < n; i++) b[i] = a[i - 1];
    }
}
}
