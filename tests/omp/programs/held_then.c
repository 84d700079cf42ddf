/* Regions that had better be narrow, run until whoever adapts them is done with that, and what a
 * program may do next: it must be seen by the next execution, not after a few more. */
#include "verify.h"
#include <omp.h>
#include <pthread.h>

enum { TURNS = 800, STEPS = 40, UNTIL_HELD = 200, MORE = 15 };

/* A region that gains from every thread, and counts its members: who asks for a thread's number keeps
 * something by it. */
static int made_serial(int wide) {
    long counter = 0;
    int members = 0;
#pragma omp parallel if (wide) reduction(+ : members, counter)
    {
        members++;
#pragma omp for schedule(static)
        for (int turn = 0; turn < TURNS; turn++) {
            for (volatile int step = 0; step < STEPS; step++) counter += turn & step & 1;
        }
    }
    VERIFY(counter == (long)(TURNS / 2) * (STEPS / 2));
    return members;
}

/* One that had better be narrow. */
#define CONTENDED(name)                                                     \
    static int name(void) {                                                 \
        volatile long counter = 0;                                          \
        int members = 0;                                                    \
        _Pragma("omp parallel reduction(+ : members)") {                    \
            members++;                                                      \
            _Pragma("omp for schedule(static)")                             \
            for (int turn = 0; turn < TURNS; turn++) {                      \
                _Pragma("omp critical")                                     \
                for (int step = 0; step < STEPS; step++)                    \
                    counter += turn & step & 1;                             \
            }                                                               \
        }                                                                   \
        VERIFY(counter == (long)(TURNS / 2) * (STEPS / 2));                 \
        return members;                                                     \
    }

CONTENDED(counted_on)
CONTENDED(widened)
CONTENDED(shared)

static int most;

static int in_parallel(void) { return made_serial(1); }

static void several(int (*region)(void), int times) {
    for (int execution = 0; execution < times; execution++) {
        int members = region();
        VERIFY(members >= 1 && members <= most);
    }
}

/* Another thread that starts teams, with a number of its own. */
static void *elsewhere(void *nothing) {
    omp_set_num_threads(1);
    for (int execution = 0; execution < MORE; execution++) VERIFY(shared() == 1);
    return nothing;
}

int main(void) {
    /* The runtime is not asked: from then on it would be known that the program counts on it. */
    most = atoi(getenv("OMP_NUM_THREADS"));
    several(in_parallel, UNTIL_HELD);
    VERIFY(made_serial(0) == 1);
    several(in_parallel, MORE);

    several(widened, UNTIL_HELD);
    several(shared, UNTIL_HELD);
    several(counted_on, UNTIL_HELD);
    int told = omp_get_max_threads();
    VERIFY(told == most);
    for (int execution = 0; execution < MORE; execution++) VERIFY(counted_on() == told);

    /* A program that sets the number counts on it as well, if it can tell its threads apart. */
    omp_set_num_threads(most + 1);
    VERIFY(widened() == most + 1);
    omp_set_num_threads(most);
    several(in_parallel, MORE);

    pthread_t thread;
    VERIFY(!pthread_create(&thread, 0, elsewhere, 0));
    several(shared, MORE);
    VERIFY(!pthread_join(thread, 0));
    several(shared, MORE);
    /* A program that imports this may keep data by it: so the number that it sets is kept. */
    VERIFY(omp_get_thread_num() == 0);
    puts("done");
}
