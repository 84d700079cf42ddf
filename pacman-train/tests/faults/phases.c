/* Marks a phase on two threads, as far as the library lets it; prints and ends the same either way. */
#include <stdio.h>
#include <stdlib.h>

#include "pacman.h"

/* Errors are a program's own to tell; record names what is missing without it. */
static void try_phase(pacman_session *session, pacman_phase phase)
{
    if (pacman_attach(session) < 0)
        return;
    for (int step = 0; step < 3; step++) {
        if (pacman_begin(session, phase) < 0)
            break;
        for (volatile int work = 0; work < 100000; work++)
            ;
        if (pacman_end(session, phase) < 0)
            break;
    }
    pacman_detach(session);
}

int main(void)
{
    pacman_options options = PACMAN_OPTIONS_INIT;
    pacman_session *session;
    pacman_phase phase;
    options.name = "faults";
    options.events = "task-clock";
    if (pacman_session_open(&options, &session) < 0 ||
        pacman_phase_define(session, "sweep", &phase) < 0) {
        fprintf(stderr, "program: %s\n", pacman_last_error());
    } else {
#pragma omp parallel
        try_phase(session, phase);
        pacman_session_close(session);
    }
    return 0;
}
