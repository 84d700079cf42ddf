/* Bad input: each refusal has its code and one line that says what to do. */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

static pacman_session *held;

/* Tries to open, with what the session would be. */
static int open_as(const char *name, const char *events, const char *placement)
{
    pacman_options options = PACMAN_OPTIONS_INIT;
    pacman_session *session = NULL;
    int status;

    options.name = name;
    options.events = events;
    options.placement = placement;
    status = pacman_session_open(&options, &session);
    if (status < 0)
        CHECK(session == NULL);
    else
        pacman_session_close(session);
    return status;
}

static void options_that_cannot_be(void)
{
    pacman_options options = PACMAN_OPTIONS_INIT;
    pacman_session *session;

    options.name = "flags";
    options.events = "task-clock";
    options.flags = 16;
    REFUSES(PACMAN_E_INVALID,
            "cannot open a session: flags 0x10 or reserved fields are not known to libpacman "
            PACMAN_VERSION "; begin with PACMAN_OPTIONS_INIT",
            pacman_session_open(&options, &session));
    options.flags = 0;
    options.clock = 9;
    REFUSES_LIKE(PACMAN_E_INVALID, "cannot take time from clock 9: there is no such clock; use",
                 pacman_session_open(&options, &session));
    options.clock = PACMAN_CLOCK_MONOTONIC;
    options.log_samples = UINT64_MAX;
    REFUSES_LIKE(PACMAN_E_INVALID, "samples a thread: 16777216 is the most",
                 pacman_session_open(&options, &session));
    options.log_samples = 0;
    REFUSES(PACMAN_E_INVALID, "cannot return a session: the pointer for it is null",
            pacman_session_open(&options, NULL));
    REFUSES(PACMAN_E_INVALID, "cannot use a pacman_options: it is null; pass a struct",
            pacman_session_open(NULL, &session));
    options.abi = 0;
    REFUSES(PACMAN_E_ABI,
            "cannot serve a program for ABI 0.0: this libpacman " PACMAN_VERSION
            " has 0.4; begin with PACMAN_OPTIONS_INIT",
            pacman_session_open(&options, &session));
    REFUSES(PACMAN_E_ABI,
            "cannot serve a program for ABI 7.2: this libpacman " PACMAN_VERSION
            " has 0.4; install the library that the header came with",
            pacman_abi_check((7u << 16) | 2u));
}

static void events_and_places(void)
{
    /* Between the two parts stands the processor whose table was searched. */
    REFUSES_LIKE(PACMAN_E_UNKNOWN_EVENT, "cannot count \"page-fault\": no event page-fault on ",
                 open_as("x", "task-clock,page-fault", NULL));
    REFUSES_LIKE(PACMAN_E_UNKNOWN_EVENT, "; nearest: page-faults",
                 open_as("x", "task-clock,page-fault", NULL));
    REFUSES(PACMAN_E_INVALID,
            "cannot count \"task-clock:e\": the kernel's task-clock takes only u and k; "
            "leave out :e",
            open_as("x", "task-clock:e", NULL));
    REFUSES(PACMAN_E_INVALID,
            "cannot count task-clock twice in session \"x\"; name it once",
            open_as("x", "task-clock,task-clock", NULL));
    REFUSES(PACMAN_E_NO_EVENTS,
            "cannot count an empty list of events; name at least one, such as task-clock",
            open_as("x", " , ", NULL));
    REFUSES(PACMAN_E_INVALID, "cannot use this as a list of events: it is null; pass a string",
            open_as("x", NULL, NULL));
    REFUSES(PACMAN_E_INVALID, "cannot use this as a list of events: it is not valid UTF-8",
            open_as("x", "task-\xff", NULL));
    REFUSES_LIKE(PACMAN_E_TOO_MANY_EVENTS,
                 "cannot count 25 events at once: 24 is the most; split them over several sessions "
                 "or runs",
                 open_as("x",
                         "r0001,r0002,r0003,r0004,r0005,r0006,r0007,r0008,r0009,r000a,r000b,r000c,"
                         "r000d,r000e,r000f,r0010,r0011,r0012,r0013,r0014,r0015,r0016,r0017,r0018,"
                         "r0019",
                         NULL));
    REFUSES(PACMAN_E_INVALID,
            "cannot start session \"a\\nb\": a name is one line of text, not empty",
            open_as("a\nb", "task-clock", NULL));
    REFUSES_LIKE(PACMAN_E_NO_PLACE, "cannot place a thread on cpu 4000: ",
                 open_as("x", "task-clock", "4000"));
    REFUSES(PACMAN_E_INVALID,
            "cannot read placement \"nearby\": \"nearby\" is neither a policy nor a cpu; use "
            "compact, scatter, one-per-core, siblings-together or a list like 0,2,4-7",
            open_as("x", "task-clock", "nearby"));
    REFUSES_LIKE(PACMAN_E_NO_EVENTS, "cannot place threads on an empty list of cpus",
                 open_as("x", "task-clock", ""));
    REFUSES(PACMAN_E_DUPLICATE_SESSION,
            "cannot start session \"held\": one of that name is open in this process; close it or "
            "choose another name",
            open_as("held", "task-clock", NULL));
}

/* A list for which the machine has no place is not an empty list, which somebody would have given. */
static void siblings_where_there_are_none(void)
{
    pacman_topology machine = PACMAN_TOPOLOGY_INIT;

    ANSWERS(PACMAN_OK, pacman_topology_read(&machine));
    if (machine.contexts_per_core > 1) {
        printf("skipped: cores with siblings\n");
        return;
    }
    REFUSES(PACMAN_E_NO_PLACE,
            "cannot place threads siblings-together: no core that this process may use has two "
            "contexts; use compact",
            open_as("x", "task-clock", "siblings-together"));
}

static void phases_and_threads(void)
{
    uint64_t counts[2] = { 5, 5 };
    pacman_phase phase = {0}, other = {0};
    const char *name = NULL;

    REFUSES(PACMAN_E_INVALID,
            "cannot name a phase \"\" in session \"held\": a name is one line of text, not empty",
            pacman_phase_define(held, "", &phase));
    CHECK(phase.id == 0);
    ANSWERS(PACMAN_OK, pacman_phase_define(held, "p", &phase));
    ANSWERS(PACMAN_OK, pacman_phase_define(held, "q", &other));

    REFUSES(PACMAN_E_NOT_ATTACHED,
            "cannot begin a phase on this thread: it is not attached to session \"held\"; call "
            "pacman_attach first",
            pacman_begin(held, phase));
    ANSWERS(PACMAN_E_NOT_ATTACHED, pacman_end(held, phase));
    ANSWERS(PACMAN_E_NOT_ATTACHED, pacman_read(held, counts, 2));
    ANSWERS(PACMAN_E_NOT_ATTACHED, pacman_publish(held));
    ANSWERS(PACMAN_E_NOT_ATTACHED, pacman_detach(held));
    REFUSES(PACMAN_E_NO_THREAD,
            "cannot read thread 0 of session \"held\": no thread of that number has attached; "
            "pacman_thread_count says how many have attached",
            pacman_peer_read(held, 0, counts, 2, NULL));

    ANSWERS(PACMAN_OK, pacman_attach(held));
    REFUSES(PACMAN_E_NO_SAMPLE,
            "cannot read thread 0: it has published nothing yet; it does at each pacman_begin, "
            "pacman_end and pacman_publish",
            pacman_peer_read(held, 0, counts, 2, NULL));
    REFUSES(PACMAN_E_PHASE_ORDER,
            "cannot end phase \"p\" on thread 0: it was not begun; begin it first",
            pacman_end(held, phase));
    ANSWERS(PACMAN_OK, pacman_begin(held, phase));
    ANSWERS(PACMAN_OK, pacman_begin(held, other));
    REFUSES(PACMAN_E_PHASE_ORDER,
            "cannot end phase \"p\" on thread 0: another phase was begun later and is still open; "
            "end \"q\" first",
            pacman_end(held, phase));
    ANSWERS(PACMAN_OK, pacman_end(held, other));
    ANSWERS(PACMAN_OK, pacman_end(held, phase));

    REFUSES(PACMAN_E_SIZE, "cannot return counts: there is room for 1, the session counts 2 of them",
            pacman_read(held, counts, 1));
    REFUSES(PACMAN_E_INVALID, "cannot return counts: the pointer for it is null",
            pacman_read(held, NULL, 2));
    CHECK(counts[0] == 5 && counts[1] == 5);
    REFUSES(PACMAN_E_INVALID,
            "cannot name event 2 of session \"held\": it counts 2, numbered from 0",
            pacman_event_name(held, 2, &name));
    CHECK(name == NULL);
    REFUSES(PACMAN_E_ALREADY_ATTACHED,
            "cannot attach this thread to session \"held\" on cpu 0: it is attached wherever it "
            "runs; call pacman_detach first",
            pacman_attach_cpu(held, 0));
    ANSWERS(PACMAN_OK, pacman_detach(held));
    REFUSES_LIKE(PACMAN_E_NO_PLACE, "cannot place a thread on cpu 4000: ",
                 pacman_attach_cpu(held, 4000));
    REFUSES_LIKE(PACMAN_E_INVALID, "cannot write a report in format 77: there is no such format",
                 pacman_report_write(held, 77, 1));
}

static void *attach_second(void *session)
{
    REFUSES_LIKE(PACMAN_E_NO_PLACE, "cannot attach another thread to session \"one\": all 1 places of ",
                 pacman_attach((pacman_session *)session));
    return NULL;
}

static void a_full_and_a_forbidden_place(void)
{
    pacman_options options = PACMAN_OPTIONS_INIT;
    cpu_set_t before, narrow;
    pacman_session *session;
    pthread_t thread;
    char list[16], beyond[16];
    int cpu = 0, other;

    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    snprintf(list, sizeof list, "%d", cpu);
    options.name = "one";
    options.events = "task-clock";
    options.placement = list;
    ANSWERS(PACMAN_OK, pacman_session_open(&options, &session));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    CHECK(pthread_create(&thread, NULL, attach_second, session) == 0);
    pthread_join(thread, NULL);
    ANSWERS(PACMAN_OK, pacman_detach(session));
    ANSWERS(PACMAN_OK, pacman_session_close(session));

    for (other = cpu + 1; other < CPU_SETSIZE && !CPU_ISSET(other, &before); other++)
        ;
    if (other == CPU_SETSIZE) {
        printf("skipped: one cpu only, none to forbid\n");
        return;
    }
    CPU_ZERO(&narrow);
    CPU_SET(cpu, &narrow);
    CHECK(sched_setaffinity(0, sizeof narrow, &narrow) == 0);
    snprintf(beyond, sizeof beyond, "%d", other);
    REFUSES_LIKE(PACMAN_E_PLACE_NOT_ALLOWED, "cannot place a thread on cpu ",
                 open_as("x", "task-clock", beyond));
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

static void no_descriptors(void)
{
    struct rlimit before, none;

    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = before;
    none.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    REFUSES_LIKE(PACMAN_E_NO_DESCRIPTORS, "open files; raise it with ulimit -n", pacman_attach(held));
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    ANSWERS(PACMAN_OK, pacman_attach(held));
    ANSWERS(PACMAN_OK, pacman_detach(held));
}

static void words_for_codes(void)
{
    int status;

    for (status = PACMAN_E_OUTPUT; status <= PACMAN_ALREADY; status++)
        CHECK(strncmp(pacman_strerror(status), "PACMAN_", 7) == 0);
    CHECK(strcmp(pacman_strerror(PACMAN_E_NOT_ATTACHED),
                 "PACMAN_E_NOT_ATTACHED: the thread is not attached") == 0);
    CHECK(strcmp(pacman_strerror(-999), "unknown PACMAN status") == 0);
}

int main(void)
{
    const char *buffer = pacman_last_error();
    int status;

    check_begin();
    held = check_open("held", "task-clock,page-faults");
    options_that_cannot_be();
    events_and_places();
    siblings_where_there_are_none();
    phases_and_threads();
    a_full_and_a_forbidden_place();
    no_descriptors();
    words_for_codes();

    /* Hardware counts, or says why not. */
    status = open_as("hardware", "CYCLES", NULL);
    CHECK(status == PACMAN_OK || strstr(pacman_last_error(), "cannot open CYCLES"));

    /* A success leaves the last message, which never moves. */
    REFUSES_LIKE(PACMAN_E_NO_EVENTS, "empty", open_as("x", "", NULL));
    ANSWERS(PACMAN_OK, pacman_session_close(held));
    CHECK(pacman_last_error() == buffer && strstr(buffer, "empty list of events"));
    return check_end();
}
