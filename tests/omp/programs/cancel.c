/* Cancelling a region, a loop, sections and a group of tasks. */
#include "verify.h"
#include <omp.h>

enum { STEPS = 30 };

int main(void) {
    VERIFY(omp_get_cancellation());
    int regions = 0, loops = 0, sections = 0, groups = 0;
    for (int step = 0; step < STEPS; step++) {
        int reached = 0, found = -1, entered = 0, ran = 0;
#pragma omp parallel
        {
#pragma omp cancel parallel
#pragma omp atomic
            reached++;
        }
        regions += reached;
#pragma omp parallel for schedule(static, 1)
        for (int i = 0; i < 1000; i++) {
            if (i == 37) {
#pragma omp atomic write
                found = i;
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
        loops += found;
#pragma omp parallel sections
        {
#pragma omp section
            {
#pragma omp atomic
                entered++;
#pragma omp cancel sections
                entered = 1000;
            }
        }
        sections += entered;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task if (0)
            {
#pragma omp atomic
                ran++;
#pragma omp cancel taskgroup
            }
            for (int task = 0; task < 20; task++) {
#pragma omp task
                {
#pragma omp atomic
                    ran += 100;
                }
            }
        }
        groups += ran;
    }
    VERIFY(regions == 0 && loops == 37 * STEPS && sections == STEPS && groups == STEPS);
    printf("%d %d %d %d\n", regions, loops, sections, groups);
}
