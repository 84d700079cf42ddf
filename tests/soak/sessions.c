/* sessions lives WARM N STRETCHES: threads of one session that live and end. sessions openings …: sessions
 * that open and close. Prints resources after the first WARM of N and after each stretch. */
#define _GNU_SOURCE 1
#include "flat.h"

#include <pacman.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS "task-clock,page-faults,context-switches"
#define AT_ONCE 8

static pacman_session *session;
static pacman_phase phase;

static void must(int status, const char *call)
{
    if (status == PACMAN_OK)
        return;
    fprintf(stderr, "%s: %s\n", call, pacman_last_error());
    exit(1);
}
#define MUST(call) must((call), #call)

static void opened(void)
{
    pacman_options options = PACMAN_OPTIONS_INIT;

    options.name = "soak";
    options.events = EVENTS;
    MUST(pacman_session_open(&options, &session));
    MUST(pacman_phase_define(session, "work", &phase));
}

static void *life(void *leaves)
{
    MUST(pacman_attach(session));
    MUST(pacman_begin(session, phase));
    MUST(pacman_end(session, phase));
    if (leaves)
        MUST(pacman_detach(session));
    return NULL;
}

/* Every other thread ends attached. */
static void lives(long count)
{
    pthread_t threads[AT_ONCE];
    int i;

    for (; count > 0; count -= AT_ONCE) {
        for (i = 0; i < AT_ONCE; i++)
            if (pthread_create(&threads[i], NULL, life, i % 2 ? &session : NULL))
                exit(1);
        for (i = 0; i < AT_ONCE; i++)
            pthread_join(threads[i], NULL);
    }
}

static void openings(long count)
{
    for (; count > 0; count--) {
        opened();
        life(&session);
        MUST(pacman_session_close(session));
    }
}

int main(int arguments, char **argument)
{
    void (*part)(long);

    if (arguments != 5)
        return 2;
    part = strcmp(argument[1], "lives") ? openings : lives;
    if (part == lives)
        opened();
    soak(part, argument + 2, 1);
    return 0;
}
