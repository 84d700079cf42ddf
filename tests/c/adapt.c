/* Adaptation from C: the loop, and everything that is refused. */
#include "check.h"

#include <math.h>

int main(void)
{
    pacman_adapt_options options = PACMAN_ADAPT_OPTIONS_INIT;
    pacman_adapter *adapter = NULL;
    pacman_adapt_phase phase = {0}, same = {0}, unknown = {0};
    pacman_topology machine = PACMAN_TOPOLOGY_INIT;
    uint32_t cpus[4096];
    size_t count = 0, dropped = 99;
    char why[512];
    int i, threads;

    check_begin();
    ANSWERS(PACMAN_OK, pacman_topology_read(&machine));
    options.break_even_ns = 1;
    ANSWERS(PACMAN_OK, pacman_adapt_open(&options, &adapter));
    ANSWERS(PACMAN_OK, pacman_adapt_phase_define(adapter, "loop", &phase));
    CHECK(pacman_adapt_phase_define(adapter, "loop", &same) == PACMAN_OK && same.id == phase.id);
    threads = check_threads(phase);
    CHECK(threads == (int)machine.allowed);
    ANSWERS(PACMAN_OK, pacman_adapt_cpus(phase, cpus, 4096, &count));
    CHECK(count == (size_t)threads);
    ANSWERS(PACMAN_E_SIZE, pacman_adapt_cpus(phase, cpus, 0, &count));
    ANSWERS(PACMAN_OK, pacman_adapt_done(phase, 1.0));
    ANSWERS(PACMAN_E_PHASE_ORDER, pacman_adapt_done(phase, 1.0));
    ANSWERS(PACMAN_E_PHASE_ORDER, pacman_adapt_cpus(phase, cpus, 4096, &count));
    for (i = 0; i < 300; i++) {
        threads = check_threads(phase);
        CHECK(threads >= 1 && threads <= (int)machine.allowed);
        ANSWERS(PACMAN_OK, pacman_adapt_done(phase, 0.01 * threads));
    }
    /* Each thread only costs: one is best, wherever there is more than one. */
    CHECK(check_threads(phase) == 1);
    ANSWERS(PACMAN_OK, pacman_adapt_done(phase, PACMAN_ADAPT_ELAPSED));
    ANSWERS(PACMAN_OK, pacman_adapt_why(phase, why, sizeof why));
    CHECK(strncmp(why, "loop: ", 6) == 0 && !strchr(why, '\n'));
    CHECK(pacman_adapt_why(phase, why, 5) == PACMAN_OK && strcmp(why, "loop") == 0);
    ANSWERS(PACMAN_E_SIZE, pacman_adapt_why(phase, why, 0));
    ANSWERS(PACMAN_E_INVALID, pacman_adapt_why(phase, NULL, 5));
    CHECK(pacman_adapt_refresh(adapter, &dropped) == PACMAN_OK && dropped == 0);

    /* Nonsense is refused, and the phase goes on with all threads. */
    for (i = 0; i < 3; i++) {
        CHECK(check_threads(phase) >= 1);
        ANSWERS(PACMAN_E_INVALID,
                pacman_adapt_done(phase, i == 0 ? (double)NAN : i == 1 ? 0.0 : -2.0));
    }
    CHECK(check_threads(phase) == (int)machine.allowed);
    CHECK(pacman_adapt_why(phase, why, sizeof why) == PACMAN_OK && strstr(why, "off"));

    unknown.id = 12345;
    threads = 0;
    ANSWERS(PACMAN_E_HANDLE, pacman_adapt_threads(unknown, &threads));
    CHECK(threads >= 1);
    CHECK(strstr(pacman_last_error(), "12345") || strstr(pacman_last_error(), "0x3039"));
    ANSWERS(PACMAN_E_HANDLE, pacman_adapt_done(unknown, 1.0));
    ANSWERS(PACMAN_E_INVALID, pacman_adapt_threads(phase, NULL));
    ANSWERS(PACMAN_E_INVALID, pacman_adapt_phase_define(adapter, "two\nlines", &same));
    ANSWERS(PACMAN_E_INVALID, pacman_adapt_phase_define(adapter, NULL, &same));
    ANSWERS(PACMAN_E_INVALID, pacman_adapt_phase_define(adapter, "x", NULL));
    ANSWERS(PACMAN_OK, pacman_adapt_close(adapter));
    ANSWERS(PACMAN_E_HANDLE, pacman_adapt_close(adapter));
    ANSWERS(PACMAN_E_HANDLE, pacman_adapt_phase_define(adapter, "x", &same));
    CHECK(check_threads(phase) >= 1);
    ANSWERS(PACMAN_E_HANDLE, pacman_adapt_done(phase, 1.0));

    ANSWERS(PACMAN_E_INVALID, pacman_adapt_open(NULL, &adapter));
    ANSWERS(PACMAN_E_INVALID, pacman_adapt_open(&options, NULL));
    options.max_loss = 1.5;
    REFUSES_LIKE(PACMAN_E_INVALID, "the most loss must be from 0 to 1, got 1.5",
                 pacman_adapt_open(&options, &adapter));
    options.max_loss = 0.02;
    options.placement = "4000";
    REFUSES_LIKE(PACMAN_E_NO_PLACE, "cannot place a thread on cpu 4000: ",
                 pacman_adapt_open(&options, &adapter));
    if (machine.contexts_per_core == 1) {
        options.placement = "siblings-together";
        REFUSES_LIKE(PACMAN_E_NO_PLACE, "has two contexts; use compact",
                     pacman_adapt_open(&options, &adapter));
    }
    options.placement = "";
    ANSWERS(PACMAN_E_NO_EVENTS, pacman_adapt_open(&options, &adapter));
    options.placement = "scatter";
    ANSWERS(PACMAN_OK, pacman_adapt_open(&options, &adapter));
    ANSWERS(PACMAN_OK, pacman_adapt_close(adapter));
    options.placement = NULL;
    options.objective = 77;
    ANSWERS(PACMAN_E_INVALID, pacman_adapt_open(&options, &adapter));
    options.objective = 0;
    options.abi = 0;
    ANSWERS(PACMAN_E_ABI, pacman_adapt_open(&options, &adapter));
    options.abi = PACMAN_ABI;
    options.size = 3;
    ANSWERS(PACMAN_E_SIZE, pacman_adapt_open(&options, &adapter));
    return check_end();
}
