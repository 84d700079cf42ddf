/* Calls the runtime as objects from GCC before 4.9 do: a start, the body by the caller, an end. */
#include "verify.h"
#include <stdbool.h>

void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_end(void);
void GOMP_parallel_loop_dynamic_start(void (*)(void *), void *, unsigned, long, long, long, long);
void GOMP_parallel_sections_start(void (*)(void *), void *, unsigned, unsigned);
bool GOMP_loop_dynamic_next(long *, long *);
void GOMP_loop_end_nowait(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);

static long sum, members, sections;

static void plain(void *data) {
    long me = omp_get_thread_num(), all = omp_get_num_threads(), given = *(long *)data;
    for (long i = 400 * me / all; i < 400 * (me + 1) / all; i++) __sync_fetch_and_add(&sum, i * given);
    __sync_fetch_and_add(&members, 1);
}

static void loop(void *data) {
    long from, to;
    while (GOMP_loop_dynamic_next(&from, &to))
        for (long i = from; i < to; i++) __sync_fetch_and_add(&sum, i * *(long *)data);
    GOMP_loop_end_nowait();
}

static void section(void *data) {
    for (unsigned which = GOMP_sections_next(); which; which = GOMP_sections_next())
        __sync_fetch_and_add(&sections, which * *(long *)data);
    GOMP_sections_end_nowait();
}

int main(void) {
    for (long step = 0; step < 30; step++) {
        GOMP_parallel_start(plain, &step, 0);
        plain(&step);
        GOMP_parallel_end();
        GOMP_parallel_start(plain, &step, 3);
        plain(&step);
        GOMP_parallel_end();
        GOMP_parallel_loop_dynamic_start(loop, &step, 0, 0, 400, 1, 7);
        loop(&step);
        GOMP_parallel_end();
        GOMP_parallel_sections_start(section, &step, 0, 4);
        section(&step);
        GOMP_parallel_end();
    }
    VERIFY(sum == 3 * 79800L * 435);
    printf("%ld %ld %ld\n", sum, members, sections);
}
