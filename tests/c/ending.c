/* Calls from where a thread's own storage is gone: exit handlers, destructor functions and
 * destructors of thread-specific data. Arguments: where, and the file of the report. */
#include "check.h"

#include <pthread.h>

static pacman_session *session;
static pacman_phase phase;
static pthread_key_t key;
static const char *where, *file;
static int destructors;

static pacman_adapt_phase adapted(void)
{
    static pacman_adapter *adapter;
    pacman_adapt_options options = PACMAN_ADAPT_OPTIONS_INIT;
    pacman_adapt_phase phase = {0};

    if (!adapter)
        ANSWERS(PACMAN_OK, pacman_adapt_open(&options, &adapter));
    ANSWERS(PACMAN_OK, pacman_adapt_phase_define(adapter, "x", &phase));
    return phase;
}

/* Leaves something in the thread's own storage. */
static void take_part(void)
{
    uint64_t counts[1];

    ANSWERS(PACMAN_OK, pacman_attach(session));
    ANSWERS(PACMAN_OK, pacman_begin(session, phase));
    ANSWERS(PACMAN_OK, pacman_end(session, phase));
    ANSWERS(PACMAN_OK, pacman_peer_read(session, 0, counts, 1, NULL));
    CHECK(check_threads(adapted()) > 0);
    ANSWERS(PACMAN_OK, pacman_adapt_done(adapted(), 1.0));
}

/* With that storage gone, every call answers, and says why. */
static void every_call(void)
{
    pacman_topology machine = PACMAN_TOPOLOGY_INIT;
    uint64_t counts[1];
    size_t threads = 0;

    REFUSES_LIKE(PACMAN_E_NOT_ATTACHED, "ending", pacman_begin(session, phase));
    REFUSES_LIKE(PACMAN_E_NOT_ATTACHED, "ending", pacman_end(session, phase));
    REFUSES_LIKE(PACMAN_E_NOT_ATTACHED, "ending", pacman_read(session, counts, 1));
    REFUSES_LIKE(PACMAN_E_NOT_ATTACHED, "ending", pacman_publish(session));
    REFUSES_LIKE(PACMAN_E_NOT_ATTACHED, "ending", pacman_detach(session));
    REFUSES_LIKE(PACMAN_E_NOT_ATTACHED, "cannot attach this thread: it is ending",
                 pacman_attach(session));
    REFUSES_LIKE(PACMAN_E_NOT_ATTACHED, "cannot attach this thread: it is ending",
                 pacman_attach_cpu(session, 0));
    ANSWERS(PACMAN_OK, pacman_thread_count(session, &threads));
    CHECK(threads > 0);
    ANSWERS(PACMAN_OK, pacman_peer_read(session, 0, counts, 1, NULL));
    ANSWERS(PACMAN_OK, pacman_topology_read(&machine));
    CHECK(machine.contexts > 0);
    CHECK(check_threads(adapted()) > 0);
    REFUSES_LIKE(PACMAN_E_NOT_ATTACHED, "it is ending", pacman_adapt_done(adapted(), 1.0));
}

static void opens_another(void)
{
    pacman_session *late = check_open("late", "task-clock");

    ANSWERS(PACMAN_E_NOT_ATTACHED, pacman_attach(late));
    ANSWERS(PACMAN_OK, pacman_session_close(late));
}

static void end(void)
{
    every_call();
    opens_another();
    ANSWERS(PACMAN_OK, pacman_report_save(session, PACMAN_FORMAT_JSON, file));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    if (check_end())
        _exit(1);
}

__attribute__((destructor)) static void of_the_program(void)
{
    if (strcmp(where, "destructor") == 0)
        end();
}

/* Of thread-specific data: the thread's own storage went before. */
static void of_the_key(void *attached)
{
    if (attached == (void *)&key) {
        every_call();
    } else {
        /* A thread that had none of the library's storage gets some now. */
        ANSWERS(PACMAN_OK, pacman_attach(session));
        ANSWERS(PACMAN_OK, pacman_begin(session, phase));
        ANSWERS(PACMAN_OK, pacman_end(session, phase));
        ANSWERS(PACMAN_OK, pacman_detach(session));
    }
    destructors++;
}

static void *attached(void *unused)
{
    (void)unused;
    take_part();
    pthread_setspecific(key, &key);
    return NULL;
}

static void *detached(void *unused)
{
    (void)unused;
    pthread_setspecific(key, &session);
    return NULL;
}

static void run(void *(*body)(void *))
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(int count, char **words)
{
    check_begin();
    if (count < 3)
        return 2;
    where = words[1];
    file = words[2];
    session = check_open("ending", "task-clock");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    CHECK(pthread_key_create(&key, of_the_key) == 0);
    take_part();
    run(attached);
    run(detached);
    CHECK(destructors == 2);
    if (strcmp(where, "atexit") == 0 || strcmp(where, "thread") == 0)
        atexit(end);
    if (check_end())
        return 1;
    if (strcmp(where, "thread") == 0)
        pthread_exit(NULL);
    return 0;
}
