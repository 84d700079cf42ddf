/* Children of a process whose threads are in every state, which report on the session that they
 * inherit. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

#define CHILDREN 200

static pacman_session *session;
static pacman_phase phase;
static int stop;

static int stopped(void)
{
    return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void *executes(void *unused)
{
    (void)unused;
    ANSWERS(PACMAN_OK, pacman_attach(session));
    while (!stopped()) {
        pacman_begin(session, phase);
        pacman_end(session, phase);
    }
    return NULL;
}

/* Has the session's locks again and again. */
static void *comes_and_goes(void *unused)
{
    pacman_phase same;
    int round;

    (void)unused;
    for (round = 0; !stopped(); round++) {
        /* Not so often that the reports take the time. */
        if (round < 100)
            ANSWERS(PACMAN_OK, pacman_attach(session));
        ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &same));
        if (round < 100)
            ANSWERS(PACMAN_OK, pacman_detach(session));
    }
    return NULL;
}

static int child(int null)
{
    uint64_t counts[1];
    size_t threads = 0, thread;

    ANSWERS(PACMAN_OK, pacman_report_write(session, PACMAN_FORMAT_JSON, null));
    ANSWERS(PACMAN_OK, pacman_thread_count(session, &threads));
    /* A sample that is half written is none. */
    for (thread = 0; thread < threads && thread < 4; thread++)
        pacman_peer_read(session, thread, counts, 1, NULL);
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}

int main(void)
{
    pthread_t threads[3];
    int null = open("/dev/null", O_WRONLY), i;

    check_begin();
    session = check_open("forks", "task-clock");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    for (i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, i < 2 ? executes : comes_and_goes, NULL) == 0);
    for (i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t pid = fork();

        if (pid == 0) {
            alarm(20);
            _exit(child(null));
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        if (WIFSIGNALED(status))
            break;
    }
    CHECK(i == CHILDREN);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
