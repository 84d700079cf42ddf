/* Reductions in which tasks take part: of a region, of a group, of a task loop. */
#include "verify.h"

enum { STEPS = 40, TASKS = 20 };

int main(void) {
    long whole = 0, groups = 0, loops = 0;
    for (int step = 0; step < STEPS; step++) {
        long sum = 0;
#pragma omp parallel reduction(task, + : sum)
        {
#pragma omp single
            for (int task = 0; task < TASKS; task++) {
#pragma omp task in_reduction(+ : sum) firstprivate(task)
                sum += task;
            }
        }
        VERIFY(sum == TASKS * (TASKS - 1) / 2);
        whole += sum;

        long looped = 0;
#pragma omp parallel for reduction(task, + : looped) schedule(dynamic, 3)
        for (int i = 0; i < TASKS; i++) {
#pragma omp task in_reduction(+ : looped) firstprivate(i)
            looped += i;
        }
        VERIFY(looped == sum);

        long grouped = 0, taskloop = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp taskgroup task_reduction(+ : grouped)
            for (int task = 0; task < TASKS; task++) {
#pragma omp task in_reduction(+ : grouped) firstprivate(task)
                grouped += 2 * task;
            }
#pragma omp taskloop reduction(+ : taskloop) grainsize(4)
            for (int i = 0; i < TASKS; i++) taskloop += 3 * i;
        }
        VERIFY(grouped == 2 * sum && taskloop == 3 * sum);
        groups += grouped;
        loops += taskloop;
    }
    printf("%ld %ld %ld\n", whole, groups, loops);
}
