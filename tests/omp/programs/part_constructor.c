/* For constructor_of_plugin: regions as it is loaded and unloaded, with the calls that threads make in them. */
#include <omp.h>

long sum;

static void work(void) {
    for (int step = 0; step < 30; step++) {
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
}

__attribute__((constructor)) static void begin(void) {
    work();
}

__attribute__((destructor)) static void end(void) {
    work();
}
