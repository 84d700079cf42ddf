/* The runtime's answers about itself stay as they were, whatever regions did in between. */
#include "verify.h"
#include <omp.h>

static void tell(const char *when) {
    printf("%s: max %d procs %d threads %d number %d dynamic %d parallel %d level %d limit %d\n", when,
           omp_get_max_threads(), omp_get_num_procs(), omp_get_num_threads(), omp_get_thread_num(),
           omp_get_dynamic(), omp_in_parallel(), omp_get_level(), omp_get_thread_limit());
}

int main(void) {
    long sum = 0;
    tell("before");
    for (int step = 0; step < 150; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 2000; i++) sum += i;
    }
    tell("between");
    int sizes[3] = {0};
    for (int step = 0; step < 3; step++) {
#pragma omp parallel
        {
#pragma omp single
            sizes[step] = omp_get_num_threads();
        }
    }
    printf("%ld, teams of %d %d %d\n", sum, sizes[0], sizes[1], sizes[2]);
#pragma omp parallel
    {
#pragma omp for ordered schedule(static, 1)
        for (int i = 0; i < omp_get_num_threads(); i++) {
#pragma omp ordered
            printf("thread %d of %d\n", omp_get_thread_num(), omp_get_num_threads());
        }
    }
    tell("after");
}
