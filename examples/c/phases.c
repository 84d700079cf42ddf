/*
 * phases: four POSIX threads, two phases each, one table.
 *
 * Build: cc -pthread phases.c $(pkg-config --cflags --libs pacman) -o phases
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pacman.h>

#define THREADS 4
#define WORDS ((size_t)1 << 20)

static pacman_session *session;
static pacman_phase fill, sum;

static int complain(void)
{
    fprintf(stderr, "phases: %s\n", pacman_last_error());
    return 1;
}

/* Returns null on success. */
static void *work(void *unused)
{
    unsigned long *words = malloc(WORDS * sizeof *words);
    volatile unsigned long total = 0;
    int failed = 0;
    size_t i;

    (void)unused;
    if (!words || pacman_attach(session) < 0) {
        complain();
        free(words);
        return &session;
    }
    failed |= pacman_begin(session, fill) < 0;
    for (i = 0; i < WORDS; i++)
        words[i] = i;
    failed |= pacman_end(session, fill) < 0;

    failed |= pacman_begin(session, sum) < 0;
    for (i = 0; i < WORDS; i++)
        total += words[i];
    failed |= pacman_end(session, sum) < 0;

    failed |= pacman_detach(session) < 0;
    if (failed)
        complain();
    free(words);
    return failed ? &session : NULL;
}

int main(void)
{
    pacman_options options = PACMAN_OPTIONS_INIT;
    pthread_t threads[THREADS];
    int failed = 0;
    int i;

    options.name = "phases";
    options.events = "task-clock,page-faults";
    if (pacman_session_open(&options, &session) < 0 ||
        pacman_phase_define(session, "fill", &fill) < 0 ||
        pacman_phase_define(session, "sum", &sum) < 0)
        return complain();

    for (i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL) != 0) {
            fprintf(stderr, "phases: cannot start thread %d\n", i);
            exit(1);
        }
    }
    for (i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed |= result != NULL;
    }
    if (pacman_report_write(session, PACMAN_FORMAT_TABLE, STDOUT_FILENO) < 0 ||
        pacman_session_close(session) < 0)
        return complain();
    return failed;
}
