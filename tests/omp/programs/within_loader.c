/* Regions inside of a visit of the loader's list, which the loader keeps locked meanwhile. A member of a team that asks
 * the loader would wait for ever. */
#define _GNU_SOURCE
#include <link.h>
#include <omp.h>
#include "verify.h"

static long sum;

static void work(void) {
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 7)
        for (int i = 0; i < 200; i++) {
#pragma omp atomic
            sum++;
        }
#pragma omp for
        for (int i = 0; i < 100; i++) {
#pragma omp critical
            sum += omp_get_thread_num() >= 0;
        }
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    (void)info, (void)size, (void)data;
    for (int step = 0; step < 30; step++) work();
    return 1;
}

int main(void) {
    dl_iterate_phdr(visit, 0);
    VERIFY(sum == 30 * 300);
    printf("done\n");
}
