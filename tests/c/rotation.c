/* Options, samples and counts of sessions whose sets may rotate. */
#include "check.h"

int main(void)
{
    pacman_options options = PACMAN_OPTIONS_INIT;
    pacman_count count = PACMAN_COUNT_INIT, cut = PACMAN_COUNT_INIT;
    uint64_t before[PACMAN_EVENTS_MAX], after[PACMAN_EVENTS_MAX], sets[PACMAN_EVENTS_MAX];
    uint64_t live = 0, epoch = 7, age = 0;
    pacman_session *session = NULL;
    pacman_phase phase;
    size_t n = 0;
    int i;

    check_begin();
    options.name = "epochs";
    options.events = "task-clock,page-faults";
    options.flags = PACMAN_ROTATE_PER_EXECUTION | PACMAN_ROTATE_STAGGERED;
    REFUSES_LIKE(PACMAN_E_INVALID, "choose one", pacman_session_open(&options, &session));
    options.flags = PACMAN_ROTATE_PER_EXECUTION | PACMAN_MULTIPLEXED;
    REFUSES_LIKE(PACMAN_E_INVALID, "multiplexed", pacman_session_open(&options, &session));
    options.flags = 16u;
    REFUSES_LIKE(PACMAN_E_INVALID, "flags 0x10", pacman_session_open(&options, &session));
    options.flags = PACMAN_ROTATE_STAGGERED;
    ANSWERS(PACMAN_OK, pacman_session_open(&options, &session));

    ANSWERS(PACMAN_OK, pacman_sets(session, sets, PACMAN_EVENTS_MAX, &n));
    CHECK(n == 1 && sets[0] == 3);
    REFUSES_LIKE(PACMAN_E_SIZE, "room for 0", pacman_sets(session, sets, 0, &n));
    ANSWERS(PACMAN_E_INVALID, pacman_sets(session, NULL, 1, &n));
    ANSWERS(PACMAN_E_INVALID, pacman_sets(session, sets, 1, NULL));

    ANSWERS(PACMAN_OK, pacman_phase_define(session, "work", &phase));
    ANSWERS(PACMAN_E_NO_THREAD, pacman_count_read(session, 0, phase, 0, &count));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    REFUSES_LIKE(PACMAN_E_NO_SAMPLE, "task-clock", pacman_count_read(session, 0, phase, 0, &count));
    ANSWERS(PACMAN_E_NO_SAMPLE, pacman_peer_sample(session, 0, before, 2, &live, &epoch, &age));

    ANSWERS(PACMAN_OK, pacman_sample(session, before, 2, &live, &epoch));
    CHECK(live == 3 && epoch == 0);
    for (i = 0; i < 5; i++) {
        ANSWERS(PACMAN_OK, pacman_begin(session, phase));
        ANSWERS(PACMAN_OK, pacman_end(session, phase));
    }
    ANSWERS(PACMAN_OK, pacman_sample(session, after, PACMAN_EVENTS_MAX, &live, NULL));
    CHECK(after[0] > before[0]);
    ANSWERS(PACMAN_E_SIZE, pacman_sample(session, after, 1, &live, &epoch));
    ANSWERS(PACMAN_E_INVALID, pacman_sample(session, NULL, 2, &live, &epoch));
    ANSWERS(PACMAN_E_INVALID, pacman_sample(session, after, 2, NULL, &epoch));
    live = 0;
    ANSWERS(PACMAN_OK, pacman_peer_sample(session, 0, before, 2, &live, &epoch, &age));
    CHECK(live == 3 && epoch == 0 && age > 0);
    ANSWERS(PACMAN_OK, pacman_peer_sample(session, 0, before, 2, &live, NULL, NULL));
    ANSWERS(PACMAN_E_INVALID, pacman_peer_sample(session, 0, before, 2, NULL, NULL, NULL));
    ANSWERS(PACMAN_E_NO_THREAD, pacman_peer_sample(session, 1, before, 2, &live, NULL, NULL));

    ANSWERS(PACMAN_OK, pacman_count_read(session, 0, phase, 0, &count));
    CHECK(count.size == sizeof count && count.executions == 5 && count.samples == 5);
    CHECK(count.value == count.sum && !count.estimated && count.sum > 0);
    CHECK(count.min <= count.max && count.max <= count.sum);
    /* A program that knows less of the struct gets what it knows. */
    cut.size = (uint32_t)offsetof(pacman_count, executions);
    cut.samples = 99;
    ANSWERS(PACMAN_OK, pacman_count_read(session, 0, phase, 0, &cut));
    CHECK(cut.value == count.value && cut.samples == 99);
    cut.size = 3;
    ANSWERS(PACMAN_E_SIZE, pacman_count_read(session, 0, phase, 0, &cut));
    ANSWERS(PACMAN_E_INVALID, pacman_count_read(session, 0, phase, 2, &count));
    ANSWERS(PACMAN_E_HANDLE, pacman_count_read(session, 0, check_phase(phase.id + (1ull << 40)), 0, &count));
    ANSWERS(PACMAN_E_INVALID, pacman_count_read(session, 0, phase, 0, NULL));

    ANSWERS(PACMAN_OK, pacman_detach(session));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    ANSWERS(PACMAN_E_HANDLE, pacman_sets(session, sets, 1, &n));
    return check_end();
}
