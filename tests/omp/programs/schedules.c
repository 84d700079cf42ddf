/* Every schedule of a combined loop, and of a loop inside a region. */
#include "verify.h"
#include <omp.h>

enum { LENGTH = 1000, STEPS = 25 };
static int seen[LENGTH];

static void visited_once_more(int times) {
    for (int i = 0; i < LENGTH; i++) VERIFY(seen[i] == times);
}

#define COMBINED(clause)                                                \
    _Pragma(clause) for (int i = 0; i < LENGTH; i++) seen[i]++;         \
    visited_once_more(++times);

int main(void) {
    int times = 0;
    const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
    for (int step = 0; step < STEPS; step++) {
        COMBINED("omp parallel for")
        COMBINED("omp parallel for schedule(static)")
        COMBINED("omp parallel for schedule(static, 7)")
        COMBINED("omp parallel for schedule(dynamic)")
        COMBINED("omp parallel for schedule(dynamic, 13)")
        COMBINED("omp parallel for schedule(monotonic: dynamic, 13)")
        COMBINED("omp parallel for schedule(nonmonotonic: dynamic, 5)")
        COMBINED("omp parallel for schedule(guided)")
        COMBINED("omp parallel for schedule(monotonic: guided, 4)")
        COMBINED("omp parallel for schedule(nonmonotonic: guided, 4)")
        COMBINED("omp parallel for schedule(auto)")
        omp_set_schedule(kinds[step % 4], step % 3);
        COMBINED("omp parallel for schedule(runtime)")
        COMBINED("omp parallel for schedule(monotonic: runtime)")
        COMBINED("omp parallel for schedule(nonmonotonic: runtime)")
#pragma omp parallel
        {
#pragma omp for schedule(dynamic, 3)
            for (int i = 0; i < LENGTH; i++) seen[i]++;
#pragma omp for schedule(guided) nowait
            for (int i = 0; i < LENGTH / 2; i++) seen[i]++;
#pragma omp for schedule(runtime)
            for (int i = LENGTH / 2; i < LENGTH; i++) seen[i]++;
        }
        visited_once_more(times += 2);
    }
    printf("every iteration ran %d times\n", times);
}
