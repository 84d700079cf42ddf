/* Handles that are none, and structs of the wrong size: told apart, never followed. */
#include "check.h"

#include <sys/mman.h>

/* Every function that takes a session refuses this one. */
static void everything_refuses(pacman_session *session, const char *why)
{
    uint64_t counts[4];
    pacman_phase phase;
    const char *text;
    size_t number;

    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_session_close(session));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_event_count(session, &number));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_event_name(session, 0, &text));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_event_unit(session, 0, &text));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_phase_define(session, "p", &phase));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_begin(session, check_phase(1)));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_end(session, check_phase(1)));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_attach(session));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_attach_cpu(session, 0));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_detach(session));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_thread_number(session, &number));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_thread_count(session, &number));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_read(session, counts, 4));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_publish(session));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_peer_read(session, 0, counts, 4, NULL));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_report_write(session, PACMAN_FORMAT_CSV, 1));
    REFUSES_LIKE(PACMAN_E_HANDLE, why, pacman_report_save(session, PACMAN_FORMAT_CSV, "/dev/null"));
}

/* Attached or not, a session that is closed is closed. */
static void closed_handles(void)
{
    pacman_session *session = check_open("closed", "task-clock");
    pacman_session *second;
    pacman_phase phase;

    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    ANSWERS(PACMAN_OK, pacman_begin(session, phase));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    REFUSES(PACMAN_E_HANDLE,
            "cannot end a phase: the session was closed; open another",
            pacman_end(session, phase));
    everything_refuses(session, ": the session was closed; open another");

    /* The name is free, and the new session's handle is another. */
    second = check_open("closed", "task-clock");
    CHECK(second != session);
    everything_refuses(session, ": the session was closed; open another");
    ANSWERS(PACMAN_OK, pacman_attach(second));
    REFUSES_LIKE(PACMAN_E_HANDLE, "in session \"closed\": it is not one of its phases",
                 pacman_begin(second, phase));
    REFUSES_LIKE(PACMAN_E_HANDLE, "cannot use phase 0x0 in session", pacman_begin(second, check_phase(0)));
    ANSWERS(PACMAN_OK, pacman_session_close(second));
}

static void foreign_handles(void)
{
    int local = 0;
    pacman_options options = PACMAN_OPTIONS_INIT;
    pacman_session *session = check_open("real", "task-clock");
    void *unreadable = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pacman_phase phase;

    everything_refuses(NULL, ": the session is null; pass what pacman_session_open gave");
    everything_refuses((pacman_session *)&local, " is not a session; pass what");
    everything_refuses((pacman_session *)(void *)&options, " is not a session; pass what");
    everything_refuses((pacman_session *)&session, " is not a session; pass what");
    everything_refuses((pacman_session *)unreadable, " is not a session; pass what");
    everything_refuses((pacman_session *)(uintptr_t)1, " is not a session; pass what");
    everything_refuses((pacman_session *)UINTPTR_MAX, " is not a session; pass what");
    everything_refuses((pacman_session *)((uintptr_t)session + 2), " is not a session; pass what");
    /* A handle of another kind. */
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    everything_refuses((pacman_session *)(uintptr_t)phase.id, " is not a session; pass what");
    ANSWERS(PACMAN_OK, pacman_attach(session));
    REFUSES_LIKE(PACMAN_E_HANDLE, "is not one of its phases",
                 pacman_begin(session, check_phase((uintptr_t)session)));
    ANSWERS(PACMAN_OK, pacman_begin(session, phase));
    ANSWERS(PACMAN_E_HANDLE, pacman_begin(session, check_phase(phase.id + 1)));
    ANSWERS(PACMAN_OK, pacman_end(session, phase));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
}

/* Options as a program of another time would have them. */
static void sizes_of_options(void)
{
    struct {
        pacman_options options;
        unsigned char tail[32];
    } newer;
    pacman_options template_options = PACMAN_OPTIONS_INIT;
    pacman_session *session = NULL;

    template_options.name = "sized";
    template_options.events = "task-clock";

    /* Older: ends behind events, so what follows is not looked at. */
    template_options.size = (uint32_t)offsetof(pacman_options, placement);
    template_options.placement = (const char *)(uintptr_t)1;
    ANSWERS(PACMAN_OK, pacman_session_open(&template_options, &session));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    template_options.placement = NULL;

    /* Too old to mean anything, unset, or garbage. */
    session = NULL;
    template_options.size = 8;
    REFUSES_LIKE(PACMAN_E_SIZE, "cannot use a pacman_options: its size is 8, not ",
                 pacman_session_open(&template_options, &session));
    REFUSES_LIKE(PACMAN_E_SIZE, "; set it to sizeof(pacman_options)",
                 pacman_session_open(&template_options, &session));
    template_options.size = 0;
    ANSWERS(PACMAN_E_SIZE, pacman_session_open(&template_options, &session));
    template_options.size = UINT32_MAX;
    ANSWERS(PACMAN_E_SIZE, pacman_session_open(&template_options, &session));
    CHECK(session == NULL);

    /* Newer: welcome while what this library does not know is zero. */
    memset(&newer, 0, sizeof newer);
    newer.options = template_options;
    newer.options.size = (uint32_t)sizeof newer;
    ANSWERS(PACMAN_OK, pacman_session_open(&newer.options, &session));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    newer.tail[17] = 1;
    REFUSES_LIKE(PACMAN_E_SIZE, "the program wants a newer library",
                 pacman_session_open(&newer.options, &session));
}

static void sizes_of_answers(void)
{
    struct {
        pacman_topology topology;
        uint32_t tail[2];
    } newer;
    pacman_topology older = PACMAN_TOPOLOGY_INIT;
    pacman_context context;
    size_t count = 77;

    memset(&newer, 0xff, sizeof newer);
    newer.topology.size = (uint32_t)sizeof newer;
    ANSWERS(PACMAN_OK, pacman_topology_read(&newer.topology));
    CHECK(newer.topology.size == sizeof newer && newer.topology.contexts >= 1);
    CHECK(newer.topology.reserved == 0 && newer.tail[0] == 0 && newer.tail[1] == 0);

    older.size = (uint32_t)offsetof(pacman_topology, contexts_per_core);
    older.contexts_per_core = 1234;
    ANSWERS(PACMAN_OK, pacman_topology_read(&older));
    CHECK(older.cores >= 1 && older.contexts_per_core == 1234);
    older.size = 3;
    REFUSES_LIKE(PACMAN_E_SIZE, "cannot use a pacman_topology: its size is 3, not ",
                 pacman_topology_read(&older));
    REFUSES_LIKE(PACMAN_E_SIZE, "cannot return contexts: an element of 2 bytes",
                 pacman_topology_contexts(&context, 1, 2, &count));
    REFUSES_LIKE(PACMAN_E_SIZE, "cannot return contexts: there is room for 0, the machine has ",
                 pacman_topology_contexts(&context, 0, sizeof context, &count));
    CHECK(count == 77);
}

int main(void)
{
    check_begin();
    foreign_handles();
    closed_handles();
    sizes_of_options();
    sizes_of_answers();
    return check_end();
}
