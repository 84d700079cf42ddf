/* Numbers that get away in handlers of exceptions: no region is proved. */
#include "team.h"

double a[4000];
long partial[64];
static int number;

struct Numbered {
    int of;
    ~Numbered() { partial[of]++; }
};

extern "C" {

void in_a_handler(void) {
    int n = number;
#pragma omp parallel
    {
        int mine = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) {
            try {
                elsewhere(i);
            } catch (int) {
                partial[mine]++;
            }
        }
    }
}

void in_a_handler_of_all(void) {
    int n = number;
#pragma omp parallel
    {
        int mine = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) {
            try {
                a[i] = some_double(i);
            } catch (...) {
                elsewhere(mine);
            }
        }
    }
}

void in_a_destructor(void) {
    int n = number;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) a[i] = i;
        try {
            Numbered one = {omp_get_thread_num()};
            elsewhere(3);
        } catch (...) {
        }
    }
}

void in_a_comparison(void) {
    int n = number;
#pragma omp parallel
    {
        int mine = omp_get_thread_num();
#pragma omp for
        for (int i = 0; i < n; i++) {
            try {
                elsewhere(i);
            } catch (int who) {
                if (who == mine) a[i] = 1;
            }
        }
    }
}
}
