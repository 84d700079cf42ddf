/* Two active levels: every member of the outer team has a team of its own. */
#include "verify.h"
#include <omp.h>

enum { STEPS = 15, INNER = 2 };

int main(void) {
    omp_set_max_active_levels(2);
    long total = 0, members = 0, levels = 0;
    for (int step = 0; step < STEPS; step++) {
        int outer = 0;
#pragma omp parallel reduction(+ : total, members, levels)
        {
#pragma omp single
            outer = omp_get_num_threads();
            int me = omp_get_thread_num();
            long mine = 0;
#pragma omp parallel num_threads(INNER) reduction(+ : mine, levels)
            {
                VERIFY(omp_get_num_threads() == INNER);
                VERIFY(omp_get_ancestor_thread_num(1) == me);
                VERIFY(omp_get_team_size(1) == outer);
                levels += omp_get_level() * 10 + omp_get_active_level();
#pragma omp for
                for (int i = 0; i < 100; i++) mine += i;
            }
            VERIFY(mine == 4950);
            total += mine * (me + 1);
            members++;
        }
        VERIFY(outer == omp_get_max_threads());
    }
    printf("%ld %ld %ld\n", total, members, levels);
}
