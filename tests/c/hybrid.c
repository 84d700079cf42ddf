/* A program that knows nothing of core types, on a simulated hybrid processor. */
#include "check.h"

int main(void)
{
    pacman_options options = PACMAN_OPTIONS_INIT;
    pacman_count count = PACMAN_COUNT_INIT, part = PACMAN_COUNT_INIT;
    uint64_t before[PACMAN_EVENTS_MAX], after[PACMAN_EVENTS_MAX], live = 0;
    pacman_session *session = NULL;
    const char *name = NULL;
    pacman_phase phase;
    size_t n = 0;
    volatile unsigned work;

    check_begin();
    setenv("PACMAN_MACHINE", "alderlake", 1);
    options.name = "hybrid";
    options.events = "INSTRUCTIONS,task-clock";
    ANSWERS(PACMAN_OK, pacman_session_open(&options, &session));
    ANSWERS(PACMAN_OK, pacman_event_count(session, &n));
    CHECK(n == 4);
    ANSWERS(PACMAN_OK, pacman_event_name(session, 1, &name));
    CHECK(strcmp(name, "task-clock") == 0);
    ANSWERS(PACMAN_OK, pacman_event_name(session, 2, &name));
    CHECK(strcmp(name, "cpu_core/INSTRUCTIONS/") == 0);
    ANSWERS(PACMAN_OK, pacman_event_name(session, 3, &name));
    CHECK(strcmp(name, "cpu_atom/INSTRUCTIONS/") == 0);

    ANSWERS(PACMAN_OK, pacman_phase_define(session, "work", &phase));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    /* Room for the events that were asked for is enough, and no more is written. */
    before[2] = 7;
    ANSWERS(PACMAN_E_SIZE, pacman_read(session, before, 1));
    ANSWERS(PACMAN_OK, pacman_read(session, before, 2));
    CHECK(before[2] == 7);
    ANSWERS(PACMAN_OK, pacman_sample(session, before, 3, &live, NULL));
    CHECK(live == 7);
    ANSWERS(PACMAN_OK, pacman_read(session, before, PACMAN_EVENTS_MAX));
    ANSWERS(PACMAN_OK, pacman_begin(session, phase));
    for (work = 0; work < 10000000; work++)
        continue;
    ANSWERS(PACMAN_OK, pacman_end(session, phase));
    ANSWERS(PACMAN_OK, pacman_read(session, after, PACMAN_EVENTS_MAX));
    CHECK(after[0] > before[0]);
    CHECK(after[0] - before[0] == after[2] - before[2] + after[3] - before[3]);

    ANSWERS(PACMAN_OK, pacman_count_read(session, 0, phase, 0, &count));
    ANSWERS(PACMAN_OK, pacman_count_read(session, 0, phase, 2, &part));
    CHECK(count.value > 0 && part.value <= count.value);
    ANSWERS(PACMAN_E_INVALID, pacman_count_read(session, 0, phase, 4, &count));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
