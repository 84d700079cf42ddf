/* single, master, critical, ordered, atomic, barrier, locks: each has an effect that is checked. */
#include "verify.h"
#include <omp.h>

enum { LENGTH = 120, STEPS = 30 };

int main(void) {
    long singles = 0, masters = 0, criticals = 0, captured = 0, locked = 0, nested = 0, order = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    for (int step = 0; step < STEPS; step++) {
        int given, next = 0, arrived = 0, threads = 0;
#pragma omp parallel private(given) reduction(+ : captured)
        {
#pragma omp single copyprivate(given)
            { given = step; singles++; }
            VERIFY(given == step);
#pragma omp master
            masters++;
#pragma omp for
            for (int i = 0; i < LENGTH; i++) {
#pragma omp critical(one)
                criticals++;
                int ticket;
#pragma omp atomic capture
                ticket = next++;
                captured += ticket;
                omp_set_lock(&lock);
                locked++;
                omp_unset_lock(&lock);
                omp_set_nest_lock(&nest);
                omp_set_nest_lock(&nest);
                nested++;
                omp_unset_nest_lock(&nest);
                omp_unset_nest_lock(&nest);
            }
#pragma omp atomic
            arrived++;
#pragma omp barrier
#pragma omp single
            threads = arrived;
            VERIFY(threads == omp_get_num_threads());
#pragma omp for ordered schedule(dynamic, 3)
            for (int i = 0; i < LENGTH; i++) {
#pragma omp ordered
                order = (order * 31 + i) % 1000003;
            }
        }
        VERIFY(next == LENGTH);
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    printf("%ld %ld %ld %ld %ld %ld %ld\n", singles, masters, criticals, captured, locked, nested, order);
}
