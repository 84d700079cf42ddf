/* The whole way of a program: open, phases, nesting, reading, peers, reports. */
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>

static pacman_session *session;

/* Touches pages that were never touched before: page faults that can be counted. */
static void touch(size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
    char *memory = (char *)mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != (char *)MAP_FAILED);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (i = 0; i < pages; i++)
        ((volatile char *)memory)[i * page] = 1;
    munmap(memory, pages * page);
}

static void *look(void *number)
{
    uint64_t counts[2] = { 7, 7 }, age = 0;

    ANSWERS(PACMAN_OK, pacman_peer_read(session, *(size_t *)number, counts, 2, &age));
    CHECK(counts[1] >= 64);
    CHECK(age > 0 && age < 60000000000u);
    /* The second look takes the short way, and age may be left out. */
    ANSWERS(PACMAN_OK, pacman_peer_read(session, *(size_t *)number, counts, 2, NULL));
    ANSWERS(PACMAN_E_NOT_ATTACHED, pacman_begin(session, check_phase(0)));
    return NULL;
}

int main(void)
{
    uint64_t before[PACMAN_EVENTS_MAX], after[PACMAN_EVENTS_MAX];
    pacman_topology machine = PACMAN_TOPOLOGY_INIT;
    pacman_phase outer, inner, again;
    pacman_context *contexts;
    const char *name, *unit;
    size_t count, number, i;
    pthread_t thread;

    check_begin();
    CHECK(strcmp(pacman_version(), PACMAN_VERSION) == 0);
    ANSWERS(PACMAN_OK, pacman_abi_check(PACMAN_ABI));
    CHECK(strcmp(pacman_last_error(), "") == 0);

    session = check_open("happy", "Task-Clock,faults");
    ANSWERS(PACMAN_OK, pacman_event_count(session, &count));
    CHECK(count == 2);
    ANSWERS(PACMAN_OK, pacman_event_name(session, 0, &name));
    ANSWERS(PACMAN_OK, pacman_event_unit(session, 0, &unit));
    CHECK(strcmp(name, "task-clock") == 0 && strcmp(unit, "ns") == 0);
    ANSWERS(PACMAN_OK, pacman_event_name(session, 1, &name));
    CHECK(strcmp(name, "page-faults") == 0);

    ANSWERS(PACMAN_OK, pacman_phase_define(session, "outer", &outer));
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "inner", &inner));
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "outer", &again));
    CHECK(outer.id == again.id && outer.id != inner.id && outer.id != 0);

    ANSWERS(PACMAN_OK, pacman_thread_count(session, &count));
    CHECK(count == 0);
    ANSWERS(PACMAN_OK, pacman_attach(session));
    ANSWERS(PACMAN_ALREADY, pacman_attach(session));
    ANSWERS(PACMAN_OK, pacman_thread_number(session, &number));
    ANSWERS(PACMAN_OK, pacman_thread_count(session, &count));
    CHECK(number == 0 && count == 1);

    after[2] = 42;
    ANSWERS(PACMAN_OK, pacman_read(session, before, 2));
    ANSWERS(PACMAN_OK, pacman_begin(session, outer));
    touch(64);
    for (i = 0; i < 3; i++) {
        ANSWERS(PACMAN_OK, pacman_begin(session, inner));
        ANSWERS(PACMAN_OK, pacman_begin(session, inner));
        ANSWERS(PACMAN_OK, pacman_end(session, inner));
        ANSWERS(PACMAN_OK, pacman_end(session, inner));
    }
    ANSWERS(PACMAN_OK, pacman_end(session, outer));
    ANSWERS(PACMAN_OK, pacman_read(session, after, PACMAN_EVENTS_MAX));
    CHECK(after[0] > before[0]);
    CHECK(after[1] - before[1] >= 64);
    CHECK(after[2] == 42);

    ANSWERS(PACMAN_OK, pacman_publish(session));
    CHECK(pthread_create(&thread, NULL, look, &number) == 0);
    pthread_join(thread, NULL);

    ANSWERS(PACMAN_OK, pacman_topology_read(&machine));
    CHECK(machine.size == sizeof machine && machine.packages >= 1);
    CHECK(machine.contexts >= machine.cores && machine.cores >= machine.packages);
    CHECK(machine.allowed >= 1 && machine.allowed <= machine.contexts);
    contexts = (pacman_context *)calloc(machine.contexts, sizeof *contexts);
    count = 0;
    ANSWERS(PACMAN_OK, pacman_topology_contexts(contexts, machine.contexts, sizeof *contexts, &count));
    CHECK(count == machine.contexts);

    /* Bound at a place of one's own choice, after leaving. */
    for (i = 0; i < count && !contexts[i].allowed; i++)
        ;
    ANSWERS(PACMAN_OK, pacman_detach(session));
    ANSWERS(PACMAN_OK, pacman_attach_cpu(session, contexts[i].cpu));
    ANSWERS(PACMAN_ALREADY, pacman_attach_cpu(session, contexts[i].cpu));
    ANSWERS(PACMAN_ALREADY, pacman_attach(session));
    ANSWERS(PACMAN_OK, pacman_detach(session));
    free(contexts);

    ANSWERS(PACMAN_OK, pacman_report_write(session, PACMAN_FORMAT_JSON, STDOUT_FILENO));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
