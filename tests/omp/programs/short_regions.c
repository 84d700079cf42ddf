/* Regions of microseconds by turns, which are decided together, and what a program may do between them. */
#include "verify.h"
#include <omp.h>
#include <pthread.h>

enum { ROUNDS = 400, MORE = 60, LONG = 64, PLACES = 64 };

static long cells[PLACES];

static long divided(void) {
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int place = 0; place < PLACES; place++) sum += cells[place];
    return sum;
}

static void handed_out(long value) {
#pragma omp parallel for schedule(dynamic, 4)
    for (int place = 0; place < PLACES; place++) cells[place] = value + place;
}

static long in_sections(void) {
    long first = 0, second = 0;
#pragma omp parallel sections
    {
#pragma omp section
        first = cells[0];
#pragma omp section
        second = cells[PLACES - 1];
    }
    return first + second;
}

/* Threads wait for each other: one alone is quicker. */
static long contended(void) {
    long sum = 0;
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int place = 0; place < PLACES; place++) {
#pragma omp atomic
            sum += cells[place];
        }
#pragma omp for schedule(static)
        for (int place = 0; place < PLACES; place++) {
#pragma omp atomic
            sum -= 1;
        }
    }
    return sum;
}

static int members(void) {
    int members = 0;
    long sum = 0;
#pragma omp parallel reduction(+ : members)
    {
        members++;
#pragma omp for schedule(static) reduction(+ : sum)
        for (int place = 0; place < PLACES; place++) sum += cells[place] & 1;
    }
    VERIFY(sum == PLACES / 2);
    return members;
}

/* One that is not short, with a team of its own. */
static double lasting(void) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int step = 0; step < 400000; step++) sum += step & 7;
    return sum;
}

static void rounds(int count, int least, int most) {
    for (long round = 0; round < count; round++) {
        handed_out(round);
        long sum = round * PLACES + PLACES * (PLACES - 1) / 2;
        VERIFY(divided() == sum);
        VERIFY(in_sections() == 2 * round + PLACES - 1);
        VERIFY(contended() == sum - PLACES);
        int team = members();
        VERIFY(team >= least && team <= most);
        if (round % LONG == LONG - 1) VERIFY(lasting() == 400000 * 3.5);
    }
}

static void *elsewhere(void *nothing) {
    omp_set_num_threads(1);
    rounds(MORE, 1, 1);
    return nothing;
}

int main(void) {
    /* The runtime is not asked: from then on it would be known that the program counts on it. */
    int most = atoi(getenv("OMP_NUM_THREADS"));
    rounds(ROUNDS, 1, most);
    omp_set_num_threads(1);
    rounds(MORE, 1, 1);
    omp_set_num_threads(most);
    rounds(ROUNDS, 1, most);
    pthread_t thread;
    VERIFY(!pthread_create(&thread, 0, elsewhere, 0));
    VERIFY(!pthread_join(thread, 0));
    rounds(MORE, 1, most);
    puts("done");
}
