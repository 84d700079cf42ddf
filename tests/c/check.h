/* Shared by the test programs: checks that print what they saw, and a limit on
 * how long a program may hang. Each includes this first. */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

/* The programs pass null on purpose. */
#define PACMAN_NO_ATTRIBUTES 1
#include <pacman.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int check_failures;

/* The status is evaluated before the message is looked at. */
static void check_status(int line, const char *call, int status, int expected, const char *text,
                         int whole)
{
    const char *message = pacman_last_error();
    int said = !text || (whole ? strcmp(message, text) == 0 : strstr(message, text) != NULL);

    if (status != expected || !said || strchr(message, '\n')) {
        fprintf(stderr, "line %d: %s\n  answered %d, expected %d\n  said     %s\n", line, call,
                status, expected, message);
        if (text)
            fprintf(stderr, "  expected %s\n", text);
        check_failures++;
    }
}

/* The call answers this code. */
#define ANSWERS(code, call) check_status(__LINE__, #call, (call), (code), NULL, 0)
/* The call fails with this code and exactly this line. */
#define REFUSES(code, text, call) check_status(__LINE__, #call, (call), (code), (text), 1)
/* The call fails with this code and a line that contains this. */
#define REFUSES_LIKE(code, part, call) check_status(__LINE__, #call, (call), (code), (part), 0)

#define CHECK(condition)                                                   \
    do {                                                                   \
        if (!(condition)) {                                                \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
            check_failures++;                                              \
        }                                                                  \
    } while (0)

/* A handle of this number, which need not be one. */
static inline pacman_phase check_phase(uint64_t id)
{
    pacman_phase phase;

    phase.id = id;
    return phase;
}

/* The number of threads that an adapted phase should use, whatever the status. */
static inline int check_threads(pacman_adapt_phase phase)
{
    int threads = 0;

    pacman_adapt_threads(phase, &threads);
    return threads;
}

/* A session that must open. */
static inline pacman_session *check_open(const char *name, const char *events)
{
    pacman_options options = PACMAN_OPTIONS_INIT;
    pacman_session *session = NULL;

    options.name = name;
    options.events = events;
    if (pacman_session_open(&options, &session) != PACMAN_OK) {
        fprintf(stderr, "cannot begin: %s\n", pacman_last_error());
        exit(1);
    }
    return session;
}

/* Kilobytes of memory that the process has now. */
static inline long check_resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    CHECK(file && fscanf(file, "%*s %ld", &pages) == 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static inline void check_begin(void)
{
    alarm(120);
}

static inline int check_end(void)
{
    if (check_failures)
        fprintf(stderr, "%d checks failed\n", check_failures);
    return check_failures ? 1 : 0;
}

#endif
