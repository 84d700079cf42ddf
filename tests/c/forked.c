/* A child has its parent's handles, but not its counters. */
#include "check.h"

#include <sys/wait.h>

static int child(pacman_session *session, pacman_phase phase)
{
    uint64_t counts[1];
    pacman_session *own;
    pacman_phase work;

    REFUSES_LIKE(PACMAN_E_FORKED, "fork", pacman_begin(session, phase));
    ANSWERS(PACMAN_E_FORKED, pacman_read(session, counts, 1));
    REFUSES_LIKE(PACMAN_E_FORKED, "belongs to the parent", pacman_attach(session));
    REFUSES_LIKE(PACMAN_E_FORKED, "belongs to the parent", pacman_attach_cpu(session, 0));
    ANSWERS(PACMAN_OK, pacman_detach(session));
    REFUSES_LIKE(PACMAN_E_FORKED, "belongs to the parent", pacman_attach(session));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    own = check_open("family", "task-clock");
    ANSWERS(PACMAN_OK, pacman_phase_define(own, "work", &work));
    ANSWERS(PACMAN_OK, pacman_attach(own));
    ANSWERS(PACMAN_OK, pacman_begin(own, work));
    ANSWERS(PACMAN_OK, pacman_end(own, work));
    ANSWERS(PACMAN_OK, pacman_read(own, counts, 1));
    CHECK(counts[0] > 0);
    ANSWERS(PACMAN_OK, pacman_session_close(own));
    return check_end();
}

int main(void)
{
    pacman_session *session;
    pacman_phase phase;
    int status = -1;
    pid_t pid;

    check_begin();
    session = check_open("family", "task-clock");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    pid = fork();
    if (pid == 0)
        _exit(child(session, phase));
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    /* The parent's counters have not noticed. */
    ANSWERS(PACMAN_OK, pacman_begin(session, phase));
    ANSWERS(PACMAN_OK, pacman_end(session, phase));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
