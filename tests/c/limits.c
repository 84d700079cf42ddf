/* As many phases as a session has, and as many begins as a thread. */
#include "check.h"

#define PHASES 65536
#define DEEPEST 1024

int main(void)
{
    pacman_session *session;
    pacman_phase first, last = {0};
    pacman_count count = PACMAN_COUNT_INIT;
    char name[32];
    long before;
    int i;

    check_begin();
    session = check_open("limits", "task-clock,page-faults,context-switches");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "phase 0", &first));
    for (i = 1; i < PHASES; i++) {
        snprintf(name, sizeof name, "phase %d", i);
        ANSWERS(PACMAN_OK, pacman_phase_define(session, name, &last));
    }
    REFUSES_LIKE(PACMAN_E_INVALID, "it has 65536 phases, and no session has more",
                 pacman_phase_define(session, "one more", &first));
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "phase 0", &first));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    before = check_resident();
    ANSWERS(PACMAN_OK, pacman_begin(session, last));
    ANSWERS(PACMAN_OK, pacman_end(session, last));
    /* The last phase takes no room for all the others. */
    CHECK(check_resident() - before < 512);
    ANSWERS(PACMAN_OK, pacman_count_read(session, 0, last, 0, &count));
    CHECK(count.executions == 1);
    REFUSES_LIKE(PACMAN_E_HANDLE, "it is not one of its phases", pacman_begin(session, check_phase(last.id + 1)));
    for (i = 0; i < DEEPEST; i++)
        ANSWERS(PACMAN_OK, pacman_begin(session, first));
    REFUSES_LIKE(PACMAN_E_PHASE_ORDER, "1024 are open, and no thread has more",
                 pacman_begin(session, first));
    for (i = 0; i < DEEPEST; i++)
        ANSWERS(PACMAN_OK, pacman_end(session, first));
    ANSWERS(PACMAN_E_PHASE_ORDER, pacman_end(session, first));
    ANSWERS(PACMAN_OK, pacman_count_read(session, 0, first, 0, &count));
    CHECK(count.executions == 1);
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
