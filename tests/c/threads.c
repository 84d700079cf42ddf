/* Many threads, threads that end attached, and sessions closed under them. */
#include "check.h"

#include <dirent.h>
#include <pthread.h>

#define THREADS 64
#define ROUNDS 200

static pacman_session *session;
static pacman_phase phase;
static pthread_barrier_t barrier;

static int descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void *take_part(void *leaves)
{
    uint64_t counts[2];
    size_t number = THREADS;
    int round;

    for (round = 0; round < ROUNDS; round++) {
        ANSWERS(round ? PACMAN_ALREADY : PACMAN_OK, pacman_attach(session));
        ANSWERS(PACMAN_OK, pacman_begin(session, phase));
        ANSWERS(PACMAN_OK, pacman_end(session, phase));
    }
    ANSWERS(PACMAN_OK, pacman_thread_number(session, &number));
    CHECK(number < THREADS);
    pthread_barrier_wait(&barrier);
    /* Every thread sees every other one. */
    for (number = 0; number < THREADS; number++)
        ANSWERS(PACMAN_OK, pacman_peer_read(session, number, counts, 2, NULL));
    pthread_barrier_wait(&barrier);
    if (leaves)
        ANSWERS(PACMAN_OK, pacman_detach(session));
    return NULL;
}

static void sixty_four_of_which_half_end_attached(void)
{
    pthread_t threads[THREADS];
    size_t count = 0;
    int before, i;

    session = check_open("many", "task-clock,page-faults");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    before = descriptors();
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, take_part, i % 2 ? &barrier : NULL) == 0);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ANSWERS(PACMAN_OK, pacman_thread_count(session, &count));
    CHECK(count == THREADS);
    CHECK(descriptors() == before);
    ANSWERS(PACMAN_OK, pacman_report_write(session, PACMAN_FORMAT_JSON, STDOUT_FILENO));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
}

/* A pool's worker: outlives sessions, and never detaches by itself. */
static void *worker(void *unused)
{
    int generation;

    (void)unused;
    for (generation = 0; generation < 20; generation++) {
        pthread_barrier_wait(&barrier);
        ANSWERS(PACMAN_OK, pacman_attach(session));
        ANSWERS(PACMAN_OK, pacman_begin(session, phase));
        ANSWERS(PACMAN_OK, pacman_end(session, phase));
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void sessions_come_and_go_over_a_pool(void)
{
    pthread_t threads[4];
    int first = 0, generation, i;

    pthread_barrier_init(&barrier, NULL, 5);
    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (generation = 0; generation < 20; generation++) {
        /* The name is free although four threads are attached to its last owner. */
        session = check_open("pool", "task-clock,page-faults");
        ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        if (generation == 0)
            first = descriptors();
        ANSWERS(PACMAN_OK, pacman_session_close(session));
    }
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    /* The workers let go of each session's counters when they joined the next. */
    CHECK(descriptors() <= first);
}

static void *ask_without_pause(void *unused)
{
    size_t count;

    (void)unused;
    while (pacman_event_count(session, &count) == PACMAN_OK)
        pacman_report_save(session, PACMAN_FORMAT_CSV, "/dev/null");
    CHECK(pacman_begin(session, phase) == PACMAN_E_HANDLE);
    return NULL;
}

static void closing_while_others_use_it(void)
{
    pthread_t threads[4];
    int i;

    session = check_open("used", "task-clock,page-faults");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, ask_without_pause, NULL) == 0);
    usleep(20000);
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    for (i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* Several sessions at once on one thread, ended out of order. */
static void two_sessions_on_a_thread(void)
{
    pacman_session *a = check_open("a", "task-clock"), *b = check_open("b", "page-faults");
    pacman_phase of_a, of_b;
    int round;

    ANSWERS(PACMAN_OK, pacman_phase_define(a, "p", &of_a));
    ANSWERS(PACMAN_OK, pacman_phase_define(b, "p", &of_b));
    ANSWERS(PACMAN_OK, pacman_attach(a));
    ANSWERS(PACMAN_OK, pacman_attach(b));
    for (round = 0; round < 3; round++) {
        ANSWERS(PACMAN_OK, pacman_begin(a, of_a));
        ANSWERS(PACMAN_OK, pacman_begin(b, of_b));
        ANSWERS(PACMAN_OK, pacman_end(a, of_a));
        ANSWERS(PACMAN_OK, pacman_end(b, of_b));
    }
    REFUSES_LIKE(PACMAN_E_HANDLE, "in session \"a\": it is not one of its phases",
                 pacman_begin(a, of_b));
    ANSWERS(PACMAN_OK, pacman_session_close(a));
    ANSWERS(PACMAN_OK, pacman_begin(b, of_b));
    ANSWERS(PACMAN_OK, pacman_end(b, of_b));
    ANSWERS(PACMAN_OK, pacman_session_close(b));
}

int main(void)
{
    check_begin();
    sixty_four_of_which_half_end_attached();
    sessions_come_and_go_over_a_pool();
    closing_while_others_use_it();
    two_sessions_on_a_thread();
    return check_end();
}
