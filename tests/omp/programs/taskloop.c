/* Task loops: by grain, by number, without a group, collapsed, and what the last iteration leaves. */
#include "verify.h"

enum { LENGTH = 240, STEPS = 40 };
static int seen[LENGTH];

int main(void) {
    long total = 0;
    for (int step = 0; step < STEPS; step++) {
        int last = -1;
#pragma omp parallel
#pragma omp single
        {
#pragma omp taskloop grainsize(16)
            for (int i = 0; i < LENGTH; i++) seen[i]++;
#pragma omp taskloop num_tasks(7) lastprivate(last)
            for (int i = 0; i < LENGTH; i++) { seen[i]++; last = i; }
#pragma omp taskgroup
            {
#pragma omp taskloop nogroup collapse(2)
                for (int i = 0; i < LENGTH / 10; i++)
                    for (int j = 0; j < 10; j++) seen[i * 10 + j]++;
            }
#pragma omp taskloop simd if (step % 2)
            for (int i = LENGTH - 1; i >= 0; i -= 2) seen[i] += 1;
        }
        VERIFY(last == LENGTH - 1);
        total += last;
        for (int i = 0; i < LENGTH; i++) VERIFY(seen[i] == (step + 1) * (3 + i % 2));
    }
    printf("%ld %d\n", total, seen[17]);
}
