/* Threads that come and go. Arguments: how many after a first few thousand, and the file of the
 * report. Prints the resident kilobytes before and after these. */
#include "check.h"

#include <pthread.h>

#define WARM 3000

static pacman_session *session;
static pacman_phase often, once;

static void *live(void *detaches)
{
    int i;

    ANSWERS(PACMAN_OK, pacman_attach(session));
    for (i = 0; i < 3; i++) {
        ANSWERS(PACMAN_OK, pacman_begin(session, often));
        ANSWERS(PACMAN_OK, pacman_end(session, often));
    }
    ANSWERS(PACMAN_OK, pacman_begin(session, once));
    ANSWERS(PACMAN_OK, pacman_end(session, once));
    if (detaches)
        ANSWERS(PACMAN_OK, pacman_detach(session));
    return NULL;
}

static void lives(long count)
{
    long i;

    for (i = 0; i < count && !check_failures; i++) {
        pthread_t thread;

        CHECK(pthread_create(&thread, NULL, live, i % 2 ? &often : NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
}

int main(int count, char **words)
{
    pacman_count sum = PACMAN_COUNT_INIT;
    uint64_t counts[3];
    long before, after, more;
    size_t threads = 0;

    check_begin();
    if (count < 3)
        return 2;
    more = atol(words[1]);
    session = check_open("lives", "task-clock,page-faults,context-switches");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "often", &often));
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "once", &once));
    lives(WARM);
    before = check_resident();
    lives(more);
    after = check_resident();
    printf("%ld %ld\n", before, after);
    ANSWERS(PACMAN_OK, pacman_thread_count(session, &threads));
    CHECK(threads == (size_t)(WARM + more));
    ANSWERS(PACMAN_OK, pacman_count_read(session, 1023, often, 0, &sum));
    CHECK(sum.executions == 3);
    REFUSES_LIKE(PACMAN_E_NO_THREAD, "in the sum of ended threads only",
                 pacman_count_read(session, 1024, often, 0, &sum));
    REFUSES_LIKE(PACMAN_E_NO_THREAD, "it has ended",
                 pacman_peer_read(session, 1024, counts, 3, NULL));
    REFUSES_LIKE(PACMAN_E_NO_THREAD, "none of that number has attached",
                 pacman_count_read(session, threads, often, 0, &sum));
    ANSWERS(PACMAN_OK, pacman_report_save(session, PACMAN_FORMAT_JSON, words[2]));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
