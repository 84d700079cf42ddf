/*
 * omp_phases: what three OpenMP phases of different character cost each thread.
 *
 *   compute   arithmetic in registers: time goes to the core
 *   stream    a triad over arrays larger than most caches: time goes to memory
 *   lock      short critical sections: time goes to waiting
 *
 * Usage: omp_phases [--table | --csv | --json] [--place POLICY] [EVENT,EVENT...]
 *        omp_phases --help
 *
 * Without EVENT it counts software events, and also cycles and instructions
 * if the machine permits it. Exit status: 0 on success, 1 if counting failed,
 * 2 for invalid arguments.
 *
 * Build: cc -O2 -fopenmp omp_phases.c $(pkg-config --cflags --libs pacman) -o omp_phases
 */
#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <omp.h>
#include <pacman.h>

#define ROUNDS 5
#define STEPS 2000000L      /* of arithmetic, over all threads */
#define WORDS (1L << 21)    /* per array: 16 MiB */
#define ENTRIES 200000L     /* into the critical section, over all threads */

#define SOFTWARE "task-clock,page-faults,context-switches"
#define HARDWARE "CYCLES,INSTRUCTIONS"

static pacman_session *session;
static pacman_phase compute, stream, lock;

static double *a, *b, *c;
static double checksum;
static long entries;

#define USAGE "usage: omp_phases [--table | --csv | --json] [--place POLICY] [EVENT,EVENT...]\n"

static int usage(const char *complaint, const char *what)
{
    fprintf(stderr, "omp_phases: %s%s\n" USAGE, complaint, what);
    return 2;
}

static int complain(void)
{
    fprintf(stderr, "omp_phases: %s\n", pacman_last_error());
    return 1;
}

/* Opens the session with `events`; if null, with those defaults that this machine can count. */
static int open_session(const char *events, const char *placement)
{
    pacman_options options = PACMAN_OPTIONS_INIT;
    int status;

    options.name = "omp_phases";
    options.placement = placement;
    options.events = events ? events : HARDWARE "," SOFTWARE;
    status = pacman_session_open(&options, &session);
    if (!events && (status == PACMAN_E_NO_PMU || status == PACMAN_E_PERMISSION ||
                    status == PACMAN_E_UNSUPPORTED || status == PACMAN_E_CONFLICT)) {
        fprintf(stderr, "omp_phases: software events only: %s\n", pacman_last_error());
        options.events = SOFTWARE;
        status = pacman_session_open(&options, &session);
    }
    return status;
}

static int is_about_arguments(int status)
{
    return status == PACMAN_E_INVALID || status == PACMAN_E_NO_EVENTS ||
           status == PACMAN_E_UNKNOWN_EVENT || status == PACMAN_E_TOO_MANY_EVENTS ||
           status == PACMAN_E_NO_PLACE || status == PACMAN_E_PLACE_NOT_ALLOWED;
}

/* The part of one phase that falls to the calling thread. */
static void compute_part(void)
{
    double x = 1.0 + omp_get_thread_num();
    long i;

    #pragma omp for schedule(static) nowait
    for (i = 0; i < STEPS; i++)
        x = x * 0.999999 + 1e-6;
    #pragma omp atomic
    checksum += x;
}

static void stream_part(void)
{
    long i;

    #pragma omp for schedule(static) nowait
    for (i = 0; i < WORDS; i++)
        a[i] = b[i] + 3.0 * c[i];
}

static void lock_part(void)
{
    long i;

    #pragma omp for schedule(static) nowait
    for (i = 0; i < ENTRIES; i++) {
        #pragma omp critical
        entries++;
    }
}

/* One phase in a parallel region of its own. Every thread attaches itself; after a
 * thread's first round that has no effect. An error affects many threads and every
 * round, so only the first failing thread reports it. */
static long run(pacman_phase phase, void (*part)(void))
{
    long failures = 0;

    #pragma omp parallel
    {
        int counted = pacman_attach(session) >= 0 && pacman_begin(session, phase) >= 0;

        part();
        if (!counted || pacman_end(session, phase) < 0) {
            long before;

            #pragma omp atomic capture
            before = failures++;
            if (before == 0)
                complain();
        }
    }
    return failures;
}

int main(int argc, char **argv)
{
    const char *events = NULL, *placement = NULL;
    uint32_t format = PACMAN_FORMAT_TABLE;
    long i;
    int argument, round, status;

    for (argument = 1; argument < argc; argument++) {
        const char *word = argv[argument];

        if (strcmp(word, "--help") == 0) {
            printf(USAGE);
            return 0;
        }
        if (strcmp(word, "--table") == 0)
            format = PACMAN_FORMAT_TABLE;
        else if (strcmp(word, "--csv") == 0)
            format = PACMAN_FORMAT_CSV;
        else if (strcmp(word, "--json") == 0)
            format = PACMAN_FORMAT_JSON;
        else if (strcmp(word, "--place") == 0 && argument + 1 < argc)
            placement = argv[++argument];
        else if (word[0] == '-')
            return usage("unknown or incomplete option ", word);
        else if (events)
            return usage("a second list of events: ", word);
        else
            events = word;
    }

    status = open_session(events, placement);
    if (status < 0) {
        complain();
        return is_about_arguments(status) ? 2 : 1;
    }
    if (pacman_phase_define(session, "compute", &compute) < 0 ||
        pacman_phase_define(session, "stream", &stream) < 0 ||
        pacman_phase_define(session, "lock", &lock) < 0)
        return complain();

    a = malloc(WORDS * sizeof *a);
    b = malloc(WORDS * sizeof *b);
    c = malloc(WORDS * sizeof *c);
    if (!a || !b || !c) {
        fprintf(stderr, "omp_phases: out of memory\n");
        return 1;
    }
    #pragma omp parallel for schedule(static)
    for (i = 0; i < WORDS; i++) {
        a[i] = 0.0;
        b[i] = (double)i;
        c[i] = 1.0;
    }

    for (round = 0; round < ROUNDS; round++) {
        if (run(compute, compute_part) || run(stream, stream_part) || run(lock, lock_part))
            return 1;
    }
    if (entries != ROUNDS * ENTRIES || a[WORDS - 1] != (double)(WORDS - 1) + 3.0) {
        fprintf(stderr, "omp_phases: the phases computed nonsense\n");
        return 1;
    }

    if (pacman_report_write(session, format, STDOUT_FILENO) < 0)
        return complain();
    if (pacman_session_close(session) < 0)
        return complain();
    free(a);
    free(b);
    free(c);
    return 0;
}
