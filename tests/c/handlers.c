/* Signal handlers that begin phases and leave them open, at any instruction of begin and end. */
#include "check.h"

#include <signal.h>
#include <sys/time.h>

/* More than were open at once without an allocation in earlier versions, again and again. */
#define LEFT 120

static pacman_session *session;
static pacman_phase handled, left;
static volatile sig_atomic_t opened, refused, completed, otherwise;

static void handler(int signal)
{
    int status = pacman_begin(session, handled);
    (void)signal;
    if (status == PACMAN_OK && pacman_end(session, handled) == PACMAN_OK)
        completed++;
    else if (status != PACMAN_E_REENTERED)
        otherwise++;
    status = pacman_begin(session, left);
    if (status == PACMAN_OK)
        opened++;
    else if (status == PACMAN_E_REENTERED)
        refused++;
    else
        otherwise++;
}

int main(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction action;
    pacman_phase work;
    pacman_count count = PACMAN_COUNT_INIT;
    int begun = 0, closed = 0;

    check_begin();
    session = check_open("handlers", "task-clock");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "work", &work));
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "handled", &handled));
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "left", &left));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    while (opened < LEFT && otherwise == 0) {
        int status = pacman_begin(session, work);
        CHECK(status == PACMAN_OK);
        begun += 1;
        /* The handler may have left a phase open meanwhile, which comes first. */
        status = pacman_end(session, work);
        if (status == PACMAN_OK)
            closed += 1;
        else
            CHECK(status == PACMAN_E_PHASE_ORDER);
    }
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CHECK(otherwise == 0);
    CHECK(begun >= closed);
    REFUSES_LIKE(PACMAN_E_PHASE_ORDER, "open", pacman_end(session, handled));
    if (completed > 0)
        ANSWERS(PACMAN_OK, pacman_count_read(session, 0, handled, 0, &count));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
