/* The library's computations show in nothing that the program can see of its floating-point state:
 * nothing traps that the program has trap, rounding stays, and flags stay as they were. */
#include "check.h"

#ifdef __x86_64__
#include <xmmintrin.h>

enum {
    UPWARDS = 0x4000,
    /* Every exception traps; none does; and none, after each has occurred. */
    TRAPPING = UPWARDS,
    SILENT = UPWARDS | 0x1f80,
    FLAGGED = UPWARDS | 0x1f80 | 0x3f
};

static void adapt(unsigned state)
{
    pacman_adapt_options options = PACMAN_ADAPT_OPTIONS_INIT;
    pacman_adapter *adapter = NULL;
    pacman_adapt_phase phase = {0};
    size_t dropped = 99;
    char why[512];
    int i;

    _mm_setcsr(state);
    ANSWERS(PACMAN_OK, pacman_adapt_open(&options, &adapter));
    CHECK(_mm_getcsr() == state);
    ANSWERS(PACMAN_OK, pacman_adapt_close(adapter));
    options.break_even_ns = 1;
    ANSWERS(PACMAN_OK, pacman_adapt_open(&options, &adapter));
    ANSWERS(PACMAN_OK, pacman_adapt_phase_define(adapter, "loop", &phase));
    for (i = 0; i < 300; i++) {
        int threads = check_threads(phase);

        CHECK(threads >= 1);
        ANSWERS(PACMAN_OK, pacman_adapt_done(phase, i == 7 ? PACMAN_ADAPT_ELAPSED
                                                    : threads > 1 ? 0.3
                                                                  : 0.1));
    }
    /* One that is refused, too. */
    CHECK(check_threads(phase) >= 1);
    ANSWERS(PACMAN_E_INVALID, pacman_adapt_done(phase, 0.0));
    ANSWERS(PACMAN_OK, pacman_adapt_why(phase, why, sizeof why));
    ANSWERS(PACMAN_OK, pacman_adapt_refresh(adapter, &dropped));
    CHECK(_mm_getcsr() == state);
    ANSWERS(PACMAN_OK, pacman_adapt_close(adapter));
    CHECK(_mm_getcsr() == state);
}

static void count(unsigned state)
{
    pacman_session *session;
    pacman_phase loop;
    pacman_count counted = PACMAN_COUNT_INIT;
    pacman_topology machine = PACMAN_TOPOLOGY_INIT;
    int i;

    _mm_setcsr(state);
    session = check_open("floating", "task-clock,page-faults");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "loop", &loop));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    for (i = 0; i < 10; i++) {
        ANSWERS(PACMAN_OK, pacman_begin(session, loop));
        ANSWERS(PACMAN_OK, pacman_end(session, loop));
    }
    ANSWERS(PACMAN_OK, pacman_count_read(session, 0, loop, 0, &counted));
    ANSWERS(PACMAN_OK, pacman_report_save(session, PACMAN_FORMAT_TABLE, "/dev/null"));
    ANSWERS(PACMAN_OK, pacman_report_save(session, PACMAN_FORMAT_CSV, "/dev/null"));
    ANSWERS(PACMAN_OK, pacman_report_save(session, PACMAN_FORMAT_JSON, "/dev/null"));
    ANSWERS(PACMAN_OK, pacman_detach(session));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    ANSWERS(PACMAN_OK, pacman_topology_read(&machine));
    CHECK(_mm_getcsr() == state);
}

int main(void)
{
    check_begin();
    adapt(SILENT);
    adapt(FLAGGED);
    adapt(TRAPPING);
    count(SILENT);
    count(FLAGGED);
    count(TRAPPING);
    return check_end();
}
#else
int main(void)
{
    printf("skipped: not an x86-64 processor\n");
    return 0;
}
#endif
