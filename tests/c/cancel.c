/* Threads that are cancelled while they are in a call. Argument: the call's number. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#define THREADS 60

static pacman_session *session, *watched;
static pacman_phase phase;
static int call, null;

static void once(long round)
{
    pacman_topology machine = PACMAN_TOPOLOGY_INIT;
    pacman_session *own = NULL;
    pacman_options options = PACMAN_OPTIONS_INIT;
    uint64_t counts[1];
    char name[64];

    switch (call) {
    case 0:
        pacman_begin(watched, phase);
        pacman_end(watched, phase);
        break;
    case 1:
        pacman_read(watched, counts, 1);
        break;
    case 2:
        pacman_attach(session);
        pacman_detach(session);
        break;
    case 3:
        pacman_report_write(session, PACMAN_FORMAT_JSON, null);
        break;
    case 4:
        pacman_report_save(session, PACMAN_FORMAT_CSV, "/dev/null");
        break;
    case 5:
        snprintf(name, sizeof name, "%lx-%ld", (long)pthread_self(), round);
        options.name = name;
        options.events = "task-clock";
        if (pacman_session_open(&options, &own) == PACMAN_OK)
            pacman_session_close(own);
        break;
    case 6:
        pacman_topology_read(&machine);
        break;
    case 7:
        pacman_attach_cpu(session, 0);
        pacman_detach(session);
        break;
    default:
        exit(2);
    }
}

static void *work(void *started)
{
    long round;

    if (call < 2 && pacman_attach(watched) != PACMAN_OK)
        return NULL;
    __atomic_store_n((int *)started, 1, __ATOMIC_RELEASE);
    for (round = 0;; round++) {
        once(round);
        pthread_testcancel();
    }
    return NULL;
}

int main(int count, char **words)
{
    struct timespec pause = {0, 0};
    int i;

    check_begin();
    if (count < 2)
        return 2;
    call = atoi(words[1]);
    null = open("/dev/null", O_WRONLY);
    session = check_open("cancel", "task-clock");
    watched = check_open("watched", "task-clock");
    ANSWERS(PACMAN_OK, pacman_phase_define(watched, "p", &phase));
    for (i = 0; i < THREADS; i++) {
        int started = 0;
        void *left = NULL;
        pthread_t thread;

        CHECK(pthread_create(&thread, NULL, work, &started) == 0);
        while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
            sched_yield();
        /* Anywhere in a call, not for anything to happen. */
        pause.tv_nsec = i * 1009L % 400000;
        nanosleep(&pause, NULL);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &left) == 0);
        CHECK(left == PTHREAD_CANCELED);
    }
    /* Nobody has taken a lock with him, or the cancellation of others. */
    ANSWERS(PACMAN_OK, pacman_attach(session));
    ANSWERS(PACMAN_OK, pacman_report_write(session, PACMAN_FORMAT_JSON, null));
    ANSWERS(PACMAN_OK, pacman_detach(session));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    ANSWERS(PACMAN_OK, pacman_session_close(watched));
    return check_end();
}
