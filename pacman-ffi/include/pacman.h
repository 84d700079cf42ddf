/*
 * pacman.h: hardware performance counters per thread on SMT cores
 *
 * A session counts a set of events. Each thread attaches itself, on a hardware
 * context of its own if the session has a placement, and marks the phases that
 * it runs; a report says who did what.
 *
 *     pacman_options options = PACMAN_OPTIONS_INIT;
 *     pacman_session *session;
 *     pacman_phase fill;
 *
 *     options.name = "demo";
 *     options.events = "task-clock,page-faults";
 *     if (pacman_session_open(&options, &session) < 0 ||
 *         pacman_phase_define(session, "fill", &fill) < 0) {
 *         fprintf(stderr, "demo: %s\n", pacman_last_error());
 *         return 1;
 *     }
 *     #pragma omp parallel
 *     {
 *         pacman_attach(session);          // every time: at once if attached
 *         pacman_begin(session, fill);
 *         ...
 *         pacman_end(session, fill);
 *     }
 *     pacman_report_write(session, PACMAN_FORMAT_TABLE, STDOUT_FILENO);
 *     pacman_session_close(session);
 *
 * Build:  cc -fopenmp demo.c $(pkg-config --cflags --libs pacman)
 *
 * Sections:  1 version and ABI   2 status codes and errors   3 sessions
 *            4 phases            5 threads                   6 other threads
 *            7 reports           8 the machine       9 adaptation
 *
 *
 * THREADS
 *
 * The library is Rust underneath, and the rule for each function follows from
 * what its Rust counterpart takes:
 *
 *   "any thread"      a shared reference: call it from any thread, at the same
 *                     time as anything else, also on the same session.
 *   "calling thread"  the thread's own attachment, which never leaves it: call
 *                     it from any thread; it acts for that thread alone, and
 *                     threads do not wait for each other.
 *
 * No function asks for locks around it. Closing a session while others use it
 * is safe too: calls under way finish, later ones answer PACMAN_E_HANDLE.
 * A signal handler may begin and end phases: pacman_begin() and pacman_end()
 * answer PACMAN_E_REENTERED, and change nothing, where it has interrupted one of
 * them on its thread. No other function may be called from a signal handler.
 *
 * Exit handlers, destructors of static objects and of thread-specific data may
 * call every function. A report works there as everywhere. A thread whose own
 * storage is gone by then was detached with it, as the main thread is before
 * the first exit handler: calls that need an attachment, and pacman_attach,
 * answer PACMAN_E_NOT_ATTACHED and say that the thread is ending.
 *
 * Descriptors belong to who opened them. A program that closes all numbers, as
 * daemons do, also closes the counters of its sessions: calls that read them
 * answer PACMAN_E_SYSTEM from then on, and its own files under these numbers are
 * not touched. Detach and attach again to count on.
 *
 * No function is a cancellation point: a thread that pthread_cancel() meets in
 * one finishes the call. Asynchronous cancellation (PTHREAD_CANCEL_ASYNCHRONOUS)
 * is not supported: as POSIX has it, only three functions of the C library's
 * own may be called under it.
 *
 * After fork() the child has a copy of the handles, but the counters stay the
 * parent's: calls that read them answer PACMAN_E_FORKED. The child closes its
 * copy of the session and opens its own, under the same name if it likes. A
 * report of the copy has what the threads had counted; a row that one of them
 * was in the midst of writing is left out, and the report says so. The process
 * may fork while other threads are inside calls of a session; with an adapter,
 * fork while none is, or call exec() next. A child that a bare clone() made, and
 * not fork(), has none of this: it may close nothing, and a call that reads its
 * parent's counters there may be killed by SIGSEGV.
 *
 * What the library computes shows nowhere in the program's floating-point state
 * on x86-64: nothing of it traps, and rounding and flags stay.
 *
 *
 * ERRORS
 *
 * Functions return an int. Failure is negative and has a name (section 2);
 * success is PACMAN_OK, which is 0, or PACMAN_ALREADY, which is 1 and answered
 * by the attaching functions only. So test for "< 0".
 *
 * Every failure also leaves one line of text for the calling thread in a buffer
 * of its own: what was asked, on what, what the system said, what to do. The
 * buffer has a fixed place and is never freed while the thread lives, so that
 *
 *     printf("%d %s\n", pacman_begin(session, phase), pacman_last_error());
 *
 * prints the line that belongs to the code, whichever argument is evaluated
 * first. The next failing call of the same thread overwrites it; a call that
 * succeeds leaves it alone.
 *
 * Arguments have one order: the handle, what the call is to do, where the answers
 * go. An array is followed by the number of elements that fit. Answers are written
 * on success only, but for pacman_adapt_threads(). Nothing that this
 * library returns is to be passed to free(). A defect inside the library does
 * not unwind into the program: the call answers PACMAN_E_INTERNAL.
 *
 * Handles are numbers that the library looks up; it never follows them. Null,
 * closed or foreign ones are PACMAN_E_HANDLE, whatever they point to.
 *
 *
 * GROWTH OF THE ABI
 *
 * Structs begin with their size in bytes. The library copies as much as both
 * sides know: what an older program lacks counts as zero, and what a newer
 * program has beyond this library must be zero, or the call is refused with
 * PACMAN_E_SIZE: a wish is never silently ignored. Reserved fields are zero.
 * Enumerations travel as uint32_t. Functions, fields, flags and codes are only
 * ever added, and then PACMAN_ABI_MINOR rises; whatever would break a compiled
 * program raises PACMAN_ABI_MAJOR and the soname.
 *
 * The handshake is part of opening a session: PACMAN_OPTIONS_INIT puts
 * PACMAN_ABI into the options, and a library of another major, or of a lower
 * minor, answers PACMAN_E_ABI instead of a session. No other function does
 * anything without one. Programs that load the library with dlopen() can ask
 * pacman_abi_check() first.
 */
#ifndef PACMAN_H
#define PACMAN_H

#include <stddef.h>
#include <stdint.h>

/* Compilers warn where a status that matters is ignored, and where null stands for
 * an argument that must be there. PACMAN_NO_ATTRIBUTES keeps them from it. */
#if defined(__GNUC__) && !defined(PACMAN_NO_ATTRIBUTES)
#define PACMAN_MUST_CHECK __attribute__((warn_unused_result))
#define PACMAN_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define PACMAN_MUST_CHECK
#define PACMAN_NONNULL(...)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------ *
 * 1  Version and ABI
 * ------------------------------------------------------------------------ */

/* The version of this header. */
#define PACMAN_VERSION_MAJOR 0
#define PACMAN_VERSION_MINOR 1
#define PACMAN_VERSION_PATCH 0
#define PACMAN_VERSION       "0.1.0"

/* The ABI that this header describes. */
#define PACMAN_ABI_MAJOR 0u
#define PACMAN_ABI_MINOR 3u
#define PACMAN_ABI       ((PACMAN_ABI_MAJOR << 16) | PACMAN_ABI_MINOR)

/*
 * pacman_version: the library's version
 *
 * Which library was loaded, for reports of problems; compare it with
 * PACMAN_VERSION, which is the header's. Decisions belong to pacman_abi_check().
 *
 * Thread rule: any thread.
 *
 * Returns a string such as "0.1.0" that lives as long as the library. Never
 * null.
 */
const char *pacman_version(void);

/*
 * pacman_abi_check: does this library serve programs compiled for an ABI?
 *
 *   abi   PACMAN_ABI, as the program was compiled with it
 *
 * Opening a session asks the same question, so that programs linked in the
 * usual way need not call this. Those that dlopen() the library should, before
 * they look up anything else.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK      the library has everything the header promises
 *   PACMAN_E_ABI   it has not, or the number is none; the message says which
 *                  of the two is the older
 *
 * Example
 *     void *library = dlopen("libpacman.so.0", RTLD_NOW);
 *     int (*check)(uint32_t) = (int (*)(uint32_t))dlsym(library, "pacman_abi_check");
 *     if (!check || check(PACMAN_ABI) < 0) return without_counters();
 */
int pacman_abi_check(uint32_t abi);

/* ------------------------------------------------------------------------ *
 * 2  Status codes and errors
 * ------------------------------------------------------------------------ */

/* Done. */
#define PACMAN_OK 0
/* The thread was attached already; nothing was done. Not a failure. */
#define PACMAN_ALREADY 1

/* A defect in the library; please report the message. */
#define PACMAN_E_INTERNAL (-1)
/* Null, closed or foreign: not the handle of an open session, or not one of
 * its phases. */
#define PACMAN_E_HANDLE (-2)
/* A malformed argument: null where something must be, grammar, range, an
 * unknown flag. */
#define PACMAN_E_INVALID (-3)
/* A struct of a size that cannot be, or with fields that this library does not
 * know; an array without room for the answer. */
#define PACMAN_E_SIZE (-4)
/* Header and library do not fit together. */
#define PACMAN_E_ABI (-5)
/* The thread is attached to this session, but not where it asks to be. */
#define PACMAN_E_ALREADY_ATTACHED (-6)
/* Another thread closed the session during the call. */
#define PACMAN_E_CLOSED (-7)
/* The events exist, but not beside each other or beside what already runs. */
#define PACMAN_E_CONFLICT (-8)
/* The calling thread is not attached to the session. */
#define PACMAN_E_NOT_ATTACHED (-9)
/* A session of this name is open in this process. */
#define PACMAN_E_DUPLICATE_SESSION (-10)
/* An empty list of events or CPUs. */
#define PACMAN_E_NO_EVENTS (-11)
/* A place of another machine than the one that runs. */
#define PACMAN_E_FOREIGN_TOPOLOGY (-12)
/* The counters belong to the process that this one was forked from. */
#define PACMAN_E_FORKED (-13)
/* The process or the system is out of file descriptors. */
#define PACMAN_E_NO_DESCRIPTORS (-14)
/* No such hardware context, or every place of the placement is taken. */
#define PACMAN_E_NO_PLACE (-15)
/* The machine offers no hardware counters (no PMU, or a VM without one). */
#define PACMAN_E_NO_PMU (-16)
/* The kernel took the counters away, or never gave them. */
#define PACMAN_E_NOT_SCHEDULED (-17)
/* Access is refused: paranoia level, capability or seccomp. */
#define PACMAN_E_PERMISSION (-18)
/* A phase was ended that was not begun, or not begun last. */
#define PACMAN_E_PHASE_ORDER (-19)
/* The context exists, but this process may not run there. */
#define PACMAN_E_PLACE_NOT_ALLOWED (-20)
/* The operating system refused for a reason of its own. */
#define PACMAN_E_SYSTEM (-21)
/* More events than one session holds. */
#define PACMAN_E_TOO_MANY_EVENTS (-22)
/* No event of that name; the message lists the nearest ones. */
#define PACMAN_E_UNKNOWN_EVENT (-23)
/* Known, but this machine, model or kernel cannot do it. */
#define PACMAN_E_UNSUPPORTED (-24)
/* No thread of that number has attached. */
#define PACMAN_E_NO_THREAD (-25)
/* The thread has published nothing yet. */
#define PACMAN_E_NO_SAMPLE (-26)
/* The report could not be written: descriptor, file or pipe. */
#define PACMAN_E_OUTPUT (-27)
/* A signal handler has interrupted pacman_begin() or pacman_end() of this very
 * thread, and may not begin or end a phase there. Nothing was changed. */
#define PACMAN_E_REENTERED (-28)

/*
 * pacman_last_error: what the calling thread's last failing call had to say
 *
 * One line in English without a newline, at most 1,023 bytes of UTF-8. See
 * ERRORS above for how long it stays.
 *
 * Thread rule: calling thread. The pointer is the same for all calls of a
 * thread; other threads must not use it, and nobody after the thread has ended.
 *
 * Returns the text; "" if no call of this thread has failed. Never null.
 *
 * Example
 *     if (pacman_session_open(&options, &session) < 0) {
 *         fprintf(stderr, "%s\n", pacman_last_error());
 *         // cannot count "page-fault": no event page-fault on skl; nearest:
 *         // page-faults
 *     }
 */
const char *pacman_last_error(void);

/*
 * pacman_strerror: a status code in words
 *
 *   status   what a function returned
 *
 * For logs that keep only the number. pacman_last_error() says more.
 *
 * Thread rule: any thread.
 *
 * Returns the code's name and meaning, such as
 * "PACMAN_E_NOT_ATTACHED: the thread is not attached", in a string that lives as
 * long as the library; "unknown PACMAN status" for any other number. Never null.
 */
const char *pacman_strerror(int status);

/* ------------------------------------------------------------------------ *
 * 3  Sessions
 * ------------------------------------------------------------------------ */

/* A session: an opaque handle. */
typedef struct pacman_session pacman_session;

/* pacman_options.flags: the kernel may multiplex when counters run short.
 * Counts then cover a part of the time; the report shows raw and estimated
 * values apart. Without this flag a group of events is on its counters for as
 * long as its thread runs, or calls answer PACMAN_E_NOT_SCHEDULED. */
#define PACMAN_MULTIPLEXED 1u

/* pacman_options.flags, one of the two: events that do not fit on the counters
 * at once are counted in sets that rotate, as many as it takes. Each outermost execution of
 * a phase counts one set; the report says which values come from how many
 * executions and estimates the rest. Without effect if the events fit. Not
 * together with PACMAN_MULTIPLEXED.
 *   PER_EXECUTION  execution i of a phase on a thread counts set i mod n
 *   STAGGERED      on thread k it counts set (i + k) mod n: for teams whose
 *                  threads do the same work, and which thus see all events in
 *                  one execution */
#define PACMAN_ROTATE_PER_EXECUTION 2u
#define PACMAN_ROTATE_STAGGERED    4u

/* pacman_options.flags: hardware events are counted through the kernel's driver
 * also where its counts may be wrong, as on a Pentium 4, and every report marks
 * them with the reason. Without this flag a session there programs the counters
 * itself, which takes root and the msr module; a thread that has no place by a
 * placement is then bound to one hardware context for as long as it is attached.
 * The environment variable PACMAN_TRUST_DRIVER=1 does the same for every session
 * of a process. No effect on other processors and on software events. */
#define PACMAN_TRUST_DRIVER 8u

/* pacman_options.clock: where wall time comes from. */
#define PACMAN_CLOCK_BEST      0u /* the TSC where Linux trusts it */
#define PACMAN_CLOCK_TSC       1u /* the processor's time stamp counter */
#define PACMAN_CLOCK_MONOTONIC 2u /* clock_gettime(CLOCK_MONOTONIC) */

/* The most events of a session that rotates, and so of any session; and the
 * most that are counted at a time. A program that was compiled when a session
 * had 16 gets PACMAN_E_SIZE for a session of more. */
#define PACMAN_EVENTS_MAX     64
#define PACMAN_EVENTS_AT_ONCE 24

/* What a session is to be. Begin with PACMAN_OPTIONS_INIT. */
typedef struct pacman_options {
    uint32_t size;          /* sizeof(pacman_options) */
    uint32_t abi;           /* PACMAN_ABI */
    uint32_t flags;         /* PACMAN_MULTIPLEXED, a PACMAN_ROTATE_,
                               PACMAN_TRUST_DRIVER or 0 */
    uint32_t clock;         /* a PACMAN_CLOCK_ number */
    uint64_t log_samples;   /* single samples to keep per thread, 0 to 2^24;
                               8 * (3 + events at once) bytes each, taken at
                               attach */
    const char *name;       /* one line, unique among the open sessions */
    const char *events;     /* such as "CYCLES,INSTRUCTIONS,page-faults" */
    const char *placement;  /* "compact", "scatter", "one-per-core",
                               "siblings-together", CPUs such as "0,2,4-7";
                               null: threads stay where they run */
    const void *reserved[5];
} pacman_options;

#define PACMAN_OPTIONS_INIT \
    { sizeof(pacman_options), PACMAN_ABI, 0u, 0u, 0u, \
      NULL, NULL, NULL, { NULL, NULL, NULL, NULL, NULL } }

/*
 * pacman_session_open: try the events on this machine and start a session
 *
 *   options   what to count, where threads go, what to keep; the strings are
 *             copied
 *   session   where the handle goes
 *
 * EVENTS are names separated by commas, in the order that all counts keep.
 *
 *   software   task-clock and cpu-clock (nanoseconds), page-faults,
 *              minor-faults, major-faults, context-switches, cpu-migrations
 *              and the like: everywhere, also without a PMU
 *   presets    CYCLES, INSTRUCTIONS, REF_CYCLES, BRANCHES, BRANCH_MISSES,
 *              CACHE_REFERENCES, CACHE_MISSES, STALL_CYCLES and more: hardware
 *              counters, of one meaning on every model that has them
 *   the model's own
 *              the vendor's names, such as UOPS_ISSUED.STALL_CYCLES
 *   raw codes  r and hexadecimal digits, as the processor's manual has them
 *
 * `pacman-pmu list` shows the presets and the model's own events of the machine
 * that it runs on, `pacman-pmu list --cpu NAME` those of another model.
 *
 * Hardware events count in user mode; ":k" after the name counts in the kernel,
 * ":uk" in both. Each counts for the hardware context of its thread: what the
 * sibling on the same core does is not in it.
 *
 * A PLACEMENT gives attaching threads the contexts of its sequence in turn; a
 * context is free again when its thread detaches.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_INVALID            null, a name or a list that cannot be read, an
 *                               unknown modifier, flag or clock, a log beyond
 *                               2^24 samples, a CPU listed twice
 *   PACMAN_E_SIZE               options.size is none, or the options say
 *                               something that this library does not know
 *   PACMAN_E_ABI                header and library do not fit together
 *   PACMAN_E_NO_EVENTS              no event, or an empty list of CPUs
 *   PACMAN_E_UNKNOWN_EVENT      the message has the nearest names
 *   PACMAN_E_TOO_MANY_EVENTS    more than PACMAN_EVENTS_MAX, or without rotation
 *                               more than PACMAN_EVENTS_AT_ONCE
 *   PACMAN_E_DUPLICATE_SESSION  the name is taken
 *   PACMAN_E_NO_PLACE           a CPU that the machine does not have; siblings
 *                               together where no core has two contexts
 *   PACMAN_E_PLACE_NOT_ALLOWED  a CPU that is offline, or kept from the process;
 *                               siblings together where cores with two are kept
 *                               from it
 *   PACMAN_E_NO_PMU, PACMAN_E_PERMISSION, PACMAN_E_UNSUPPORTED,
 *   PACMAN_E_CONFLICT, PACMAN_E_NO_DESCRIPTORS, PACMAN_E_SYSTEM
 *                               what the machine says about the events
 *
 * Example
 *     pacman_options options = PACMAN_OPTIONS_INIT;
 *     pacman_session *session;
 *     int status;
 *
 *     options.name = "solver";
 *     options.events = "CYCLES,INSTRUCTIONS";
 *     options.placement = "compact";
 *     status = pacman_session_open(&options, &session);
 *     if (status == PACMAN_E_NO_PMU || status == PACMAN_E_PERMISSION) {
 *         options.events = "task-clock";         // these always count
 *         status = pacman_session_open(&options, &session);
 *     }
 */
int pacman_session_open(const pacman_options *options, pacman_session **session)
    PACMAN_MUST_CHECK PACMAN_NONNULL(1, 2);

/*
 * pacman_session_close: end a session
 *
 *   session   the handle, which is no handle from here on
 *
 * The name is free at once, or as soon as calls that other threads have under
 * way on the session return. The calling thread is detached; every other thread
 * that is still attached lets go of its counters and of its CPU at its next
 * attach, or its next use of the closed handle, or its end, whichever is first.
 * Write reports before closing: the counts go with the session.
 *
 * Thread rule: any thread. Calls of other threads that are under way finish.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE   not an open session, for instance closed before
 */
int pacman_session_close(pacman_session *session);

/*
 * pacman_event_count: how many events a session counts
 *
 *   session   an open session
 *   count     where the number goes: 1 to PACMAN_EVENTS_MAX
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   count is null
 */
int pacman_event_count(const pacman_session *session, size_t *count)
    PACMAN_NONNULL(2);

/*
 * pacman_event_name: the canonical name of an event
 *
 *   session   an open session
 *   event     its number: the position in the list that the session was opened
 *             with, from 0
 *   name      where the string goes, such as "INSTRUCTIONS" for "instructions:u"
 *
 * The string lives as long as the process, longer than the session.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   no event of that number, or name is null
 */
int pacman_event_name(const pacman_session *session, size_t event, const char **name)
    PACMAN_NONNULL(3);

/*
 * pacman_event_unit: what one count of an event is
 *
 *   session   an open session
 *   event     its number, from 0
 *   unit      where the string goes: "cycles", "ns", "faults", ...
 *
 * The string lives as long as the process.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   no event of that number, or unit is null
 *
 * Example
 *     for (i = 0; i < count; i++) {
 *         const char *name, *unit;
 *         pacman_event_name(session, i, &name);
 *         pacman_event_unit(session, i, &unit);
 *         printf("%s: %llu %s\n", name, (unsigned long long)counts[i], unit);
 *     }
 */
int pacman_event_unit(const pacman_session *session, size_t event, const char **unit)
    PACMAN_NONNULL(3);

/*
 * pacman_sets: in which sets a session counts its events
 *
 *   session   an open session
 *   sets      where the sets go, a word each: bit e is set if event e is counted
 *             in the set
 *   n         how many fit; PACMAN_EVENTS_MAX is always enough
 *   count     where their number goes: 1 unless sets rotate
 *
 * Events that the kernel itself counts, and hardware events for which every set
 * has a counter left, are in every set; each other event is in one.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   sets or count is null
 *   PACMAN_E_SIZE      there are more than n
 */
int pacman_sets(const pacman_session *session, uint64_t *sets, size_t n, size_t *count)
    PACMAN_MUST_CHECK PACMAN_NONNULL(2, 4);

/* ------------------------------------------------------------------------ *
 * 4  Phases
 * ------------------------------------------------------------------------ */

/* A phase of one session: a handle. The number is the library's own; 0 is no
 * phase. */
typedef struct pacman_phase {
    uint64_t id;
} pacman_phase;

/*
 * pacman_phase_define: the phase of that name, made when it is named first
 *
 *   session   an open session
 *   name      one line of text, not empty; it is copied
 *   phase     where the handle goes
 *
 * A phase is a part of the program that recurs and is known by its name. The
 * same name gives the same handle on every thread. A session has 65,536 at most;
 * those that never run on a thread take no memory there.
 * Define phases ahead of the loops that run them: this function takes a lock.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   an empty name or one of several lines; null; one name more
 *                      than the session has room for
 */
int pacman_phase_define(const pacman_session *session, const char *name, pacman_phase *phase)
    PACMAN_MUST_CHECK PACMAN_NONNULL(2, 3);

/*
 * pacman_begin: begin a phase on the calling thread
 *
 *   session   a session to which the thread is attached
 *   phase     one of the session's phases
 *
 * Reads the thread's counters and the clock, and publishes the sample for
 * pacman_peer_read(). Phases nest, may be entered again, and may recurse. Never
 * locks, and with hardware events that user space can read makes no system call;
 * otherwise one. The first use of a phase on a thread takes the session's lock
 * once; nesting deeper than 16, and than ever before, allocates once.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE          not an open session, or not one of its phases
 *   PACMAN_E_NOT_ATTACHED        the thread is not attached
 *   PACMAN_E_NOT_SCHEDULED   the kernel took the counters away
 *   PACMAN_E_FORKED          attached before this process was forked
 *   PACMAN_E_SYSTEM          what else the kernel says
 *   PACMAN_E_REENTERED       in a signal handler that interrupted pacman_begin()
 *                            or pacman_end() on this thread
 * After a failure the phase is not begun.
 */
int pacman_begin(const pacman_session *session, pacman_phase phase);

/*
 * pacman_end: end the phase that the calling thread began last
 *
 *   session   a session to which the thread is attached
 *   phase     the phase begun last and not ended yet
 *
 * Reads again and adds the difference to the thread's row for the phase: wall
 * time and each event, as sum, least and greatest. An execution inside one of
 * the same phase counts as a recursion, its cost as the outer one's.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_PHASE_ORDER     not begun, or another was begun later and is still
 *                            open; the message names it; nothing has changed
 *   PACMAN_E_REENTERED       as for pacman_begin(); nothing has changed
 *   PACMAN_E_HANDLE, PACMAN_E_NOT_ATTACHED, PACMAN_E_NOT_SCHEDULED,
 *   PACMAN_E_FORKED, PACMAN_E_SYSTEM
 *                            as for pacman_begin(); where the counters could
 *                            not be read, the phase has ended and the report
 *                            notes an execution that was not counted
 *
 * Example
 *     pacman_begin(session, sweep);
 *     for (i = from; i < to; i++) relax(i);
 *     if (pacman_end(session, sweep) < 0) fprintf(stderr, "%s\n", pacman_last_error());
 */
int pacman_end(const pacman_session *session, pacman_phase phase);

/* ------------------------------------------------------------------------ *
 * 5  Threads
 * ------------------------------------------------------------------------ */

/*
 * pacman_attach: let the calling thread take part
 *
 *   session   an open session
 *
 * Opens the thread's counters. If the session has a placement, the thread is
 * bound to the next free place of it, otherwise it stays where it runs. Workers
 * of a pool attach themselves; for OpenMP that is a call at the top of a
 * parallel region, each time the region runs: a thread that is attached gets
 * PACMAN_ALREADY in a few nanoseconds, a new member of the team is attached.
 *
 * A thread may be attached to several sessions. One that ends while attached
 * is detached, and the report says so.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_ALREADY             it was attached: nothing was done
 *   PACMAN_E_HANDLE            not an open session
 *   PACMAN_E_NO_PLACE          every place of the placement is taken
 *   PACMAN_E_PLACE_NOT_ALLOWED, PACMAN_E_SYSTEM
 *                              binding failed
 *   PACMAN_E_NO_DESCRIPTORS, PACMAN_E_PERMISSION, PACMAN_E_NOT_SCHEDULED,
 *   PACMAN_E_CONFLICT, PACMAN_E_NO_PMU
 *                              opening the counters failed
 *   PACMAN_E_CLOSED            another thread closed the session meanwhile
 * After a failure nothing is left behind: descriptors, place and mask are as
 * they were.
 *
 * Example
 *     #pragma omp parallel
 *     {
 *         if (pacman_attach(session) < 0) complain(pacman_last_error());
 *         ...
 *     }
 */
int pacman_attach(const pacman_session *session);

/*
 * pacman_attach_cpu: attach the calling thread and bind it to a logical CPU
 *
 *   session   an open session
 *   cpu       Linux's number of the logical CPU, that is, hardware context
 *
 * The thread runs there until it detaches; then its old mask is restored.
 * Several threads may share a context; each has its own counts. Which contexts
 * share a core, pacman_topology_contexts() tells.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_ALREADY              it is attached and bound to that CPU
 *   PACMAN_E_ALREADY_ATTACHED   it is attached, but somewhere else
 *   PACMAN_E_NO_PLACE           the machine has no such context
 *   PACMAN_E_PLACE_NOT_ALLOWED  it is offline, or kept from this process
 *   otherwise as for pacman_attach()
 */
int pacman_attach_cpu(const pacman_session *session, uint32_t cpu);

/*
 * pacman_detach: end the calling thread's part
 *
 *   session   an open session
 *
 * Closes the counters and restores the thread's mask. What was counted stays
 * in the report, except an execution of a phase that is still open, which the
 * report notes. The thread may attach again, and then counts as a new one.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE     not an open session
 *   PACMAN_E_NOT_ATTACHED   the thread is not attached
 */
int pacman_detach(const pacman_session *session);

/*
 * pacman_thread_number: the number that the session gave the calling thread
 *
 *   session   a session to which the thread is attached
 *   number    where it goes: from 0, in order of attaching, never given twice
 *
 * This is the number of reports and of pacman_peer_read(), and not OpenMP's.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE     not an open session
 *   PACMAN_E_NOT_ATTACHED   the thread is not attached
 *   PACMAN_E_INVALID    number is null
 */
int pacman_thread_number(const pacman_session *session, size_t *number)
    PACMAN_NONNULL(2);

/*
 * pacman_read: read the calling thread's counters now
 *
 *   session   a session to which the thread is attached
 *   counts    where the counts go, in the order of the session's events
 *   n         how many fit: at least as many as the session has events; words
 *             beyond those are left alone
 *
 * Counts are raw: they start somewhere, only grow, and mean something by their
 * difference to an earlier reading on the same thread. With PACMAN_MULTIPLEXED
 * they are not scaled. Never locks or allocates; costs what pacman_begin()
 * costs, or less.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE          not an open session
 *   PACMAN_E_NOT_ATTACHED        the thread is not attached
 *   PACMAN_E_INVALID         counts is null
 *   PACMAN_E_SIZE            n is less than the number of events
 *   PACMAN_E_UNSUPPORTED     sets rotate: use pacman_sample()
 *   PACMAN_E_NOT_SCHEDULED   the kernel took the counters away
 *   PACMAN_E_FORKED          attached before this process was forked
 *   PACMAN_E_SYSTEM          what else the kernel says
 *
 * Example
 *     uint64_t before[PACMAN_EVENTS_MAX], after[PACMAN_EVENTS_MAX];
 *     pacman_read(session, before, PACMAN_EVENTS_MAX);
 *     work();
 *     pacman_read(session, after, PACMAN_EVENTS_MAX);
 *     cost = after[0] - before[0];
 */
int pacman_read(const pacman_session *session, uint64_t *counts, size_t n)
    PACMAN_NONNULL(2);

/*
 * pacman_sample: read those of the calling thread's counters that count now
 *
 *   session   a session to which the thread is attached
 *   counts    where the counts go, in the order of the session's events; words of
 *             events that are not counted now are left alone
 *   n         how many fit: at least as many as the session has events
 *   live      where the mask goes of the events that are counted: bit e for event e
 *   epoch     where the number goes of changes of the set so far; null if not wanted
 *
 * For sessions with rotating sets; where all events are counted at once it answers what
 * pacman_read() does, with every event live and epoch 0. Two samples of one thread
 * can be subtracted if their epochs are equal, for the events that are live.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE          not an open session
 *   PACMAN_E_NOT_ATTACHED        the thread is not attached
 *   PACMAN_E_INVALID         counts or live is null
 *   PACMAN_E_SIZE            n is less than the number of events
 *   PACMAN_E_NOT_SCHEDULED, PACMAN_E_FORKED, PACMAN_E_SYSTEM
 *                            as for pacman_read()
 *
 * Example
 *     pacman_sample(session, before, PACMAN_EVENTS_MAX, &live, &epoch);
 *     work();
 *     pacman_sample(session, after, PACMAN_EVENTS_MAX, &live, &now);
 *     if (now == epoch && live >> event & 1)
 *         cost = after[event] - before[event];
 */
int pacman_sample(const pacman_session *session, uint64_t *counts, size_t n, uint64_t *live,
                  uint64_t *epoch)
    PACMAN_NONNULL(2, 4);

/*
 * pacman_publish: show the calling thread's counts to the other threads
 *
 *   session   a session to which the thread is attached
 *
 * Each boundary of a phase does this; call it in the midst of a long phase, so
 * that pacman_peer_read() has something recent.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE, PACMAN_E_NOT_ATTACHED, PACMAN_E_NOT_SCHEDULED,
 *   PACMAN_E_FORKED, PACMAN_E_SYSTEM   as for pacman_read()
 */
int pacman_publish(const pacman_session *session);

/* ------------------------------------------------------------------------ *
 * 6  Other threads
 * ------------------------------------------------------------------------ */

/*
 * pacman_thread_count: how many threads have attached so far
 *
 *   session   an open session
 *   count     where the number goes; threads that have left are in it, and
 *             threads 0 to count - 1 can be asked about
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   count is null
 */
int pacman_thread_count(const pacman_session *session, size_t *count)
    PACMAN_NONNULL(2);

/*
 * pacman_peer_read: the latest counts that a thread has published
 *
 *   session   an open session; the calling thread need not be attached
 *   thread    the number of a thread, from pacman_thread_number()
 *   counts    where its counts go, in the order of the session's events
 *   n         how many fit: at least as many as the session has events
 *   age_ns    where the age of the counts goes, in nanoseconds; null if not
 *             wanted
 *
 * This is how a thread sees what its SMT sibling does, or a controller what
 * its workers do: nobody can read the counters of another context, so their
 * owner leaves a sample at each boundary of a phase and at pacman_publish().
 * The sample is whole: all counts are of one moment. No system call, and the
 * owner is not disturbed. The first look at a thread takes the session's lock.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE      not an open session
 *   PACMAN_E_NO_THREAD   no thread of that number has attached
 *   PACMAN_E_NO_SAMPLE   the thread has published nothing yet
 *   PACMAN_E_INVALID     counts is null
 *   PACMAN_E_SIZE        n is less than the number of events
 *   PACMAN_E_UNSUPPORTED sets rotate: use pacman_peer_sample()
 *
 * Example
 *     uint64_t counts[PACMAN_EVENTS_MAX], age;
 *     if (pacman_peer_read(session, sibling, counts, PACMAN_EVENTS_MAX, &age) == PACMAN_OK
 *         && age < 1000000)
 *         share = decide(counts);
 */
int pacman_peer_read(const pacman_session *session, size_t thread, uint64_t *counts, size_t n,
                     uint64_t *age_ns)
    PACMAN_MUST_CHECK PACMAN_NONNULL(3);

/*
 * pacman_peer_sample: the latest counts that a thread has published of the set
 * which is on the counters
 *
 *   session   an open session; the calling thread need not be attached
 *   thread    the number of a thread, from pacman_thread_number()
 *   counts, n, live, epoch
 *             as for pacman_sample()
 *   age_ns    as for pacman_peer_read()
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE      not an open session
 *   PACMAN_E_NO_THREAD   no thread of that number has attached
 *   PACMAN_E_NO_SAMPLE   the thread has published nothing yet
 *   PACMAN_E_INVALID     counts or live is null
 *   PACMAN_E_SIZE        n is less than the number of events
 */
int pacman_peer_sample(const pacman_session *session, size_t thread, uint64_t *counts, size_t n,
                       uint64_t *live, uint64_t *epoch, uint64_t *age_ns)
    PACMAN_MUST_CHECK PACMAN_NONNULL(3, 5);

/* ------------------------------------------------------------------------ *
 * 7  Reports
 * ------------------------------------------------------------------------ */

#define PACMAN_FORMAT_TABLE   0u /* for a person */
#define PACMAN_FORMAT_CSV     1u /* one row per phase and thread, units in the header */
#define PACMAN_FORMAT_JSON    2u /* one document */
#define PACMAN_FORMAT_LOG_CSV 3u /* one row per logged sample (log_samples) */

/*
 * pacman_report_write: write what the session knows now to a file descriptor
 *
 *   session   an open session
 *   format    a PACMAN_FORMAT_ number
 *   fd        an open descriptor, such as STDOUT_FILENO; fflush() what stdio
 *             still holds for it before the call
 *
 * Threads go on counting meanwhile; each row is of one moment. A table fits
 * itself to a terminal, and to the environment (COLUMNS, NO_COLOR, the locale).
 * Waits where the descriptor does not block.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   no such format
 *   PACMAN_E_OUTPUT    the descriptor is closed, its reader gone, the disk full;
 *                      a part may have been written. A reader that is gone does
 *                      not raise SIGPIPE here.
 */
int pacman_report_write(const pacman_session *session, uint32_t format, int fd);

/*
 * pacman_report_save: write what the session knows now to a file
 *
 *   session   an open session
 *   format    a PACMAN_FORMAT_ number
 *   path      the file; one that exists is replaced when the new one is whole,
 *             and stays as it is if anything fails. Devices, pipes and links
 *             are written to in place.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   no such format, or path is null
 *   PACMAN_E_OUTPUT    the file cannot be made or written
 *
 * Example
 *     pacman_report_save(session, PACMAN_FORMAT_JSON, "phases.json");
 */
int pacman_report_save(const pacman_session *session, uint32_t format, const char *path)
    PACMAN_MUST_CHECK PACMAN_NONNULL(3);

/* What one event counted in one phase on one thread. Begin with
 * PACMAN_COUNT_INIT. */
typedef struct pacman_count {
    uint32_t size;       /* sizeof(pacman_count) */
    uint32_t estimated;  /* 1 if value is an estimate, 0 if it is the sum */
    uint64_t value;      /* the best figure for all executions */
    uint64_t executions; /* finished executions of the phase on the thread */
    uint64_t samples;    /* those that counted the event: all, unless sets rotate */
    uint64_t sum;        /* raw, over these */
    uint64_t min;        /* the least of one */
    uint64_t max;        /* the greatest of one */
    uint64_t implausible; /* executions set aside, and in no field above, because a
                             value of theirs is impossible; reports say which */
    uint64_t doubtful;   /* 1 if all counts of the event may be wrong: the kernel's
                            driver is not trusted on this processor */
} pacman_count;

#define PACMAN_COUNT_INIT { sizeof(pacman_count), 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u }

/*
 * pacman_count_read: what one event counted in one phase on one thread so far
 *
 *   session   an open session
 *   thread    the number of a thread, from pacman_thread_number()
 *   phase     a phase of the session
 *   event     the event's number, from 0
 *   count     a struct with its size set, by PACMAN_COUNT_INIT; the other fields
 *             are filled in
 *
 * A figure of the report by itself; who wants all of them writes a report, since
 * each call makes one. Where only some executions counted the event, the value is
 * sum * executions / samples and marked as estimated.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE      not an open session, or not one of its phases
 *   PACMAN_E_NO_THREAD   no thread of that number has attached
 *   PACMAN_E_NO_SAMPLE   no finished execution has counted the event: there is no
 *                        figure, which is not 0
 *   PACMAN_E_INVALID     no event of that number, or count is null
 *   PACMAN_E_SIZE        count->size is none
 */
int pacman_count_read(const pacman_session *session, size_t thread, pacman_phase phase,
                      size_t event, pacman_count *count)
    PACMAN_MUST_CHECK PACMAN_NONNULL(5);

/* ------------------------------------------------------------------------ *
 * 8  The machine
 * ------------------------------------------------------------------------ */

/* How many of what the machine has. Begin with PACMAN_TOPOLOGY_INIT. */
typedef struct pacman_topology {
    uint32_t size;              /* sizeof(pacman_topology) */
    uint32_t contexts;          /* online hardware contexts (logical CPUs) */
    uint32_t allowed;           /* of these, the ones this process may use */
    uint32_t cores;             /* cores with an online context */
    uint32_t packages;          /* packages with an online context */
    uint32_t contexts_per_core; /* the most on one core: 1 with SMT off */
    uint32_t hybrid;            /* 1 if there is more than one kind of core */
    uint32_t reserved;
} pacman_topology;

#define PACMAN_TOPOLOGY_INIT { sizeof(pacman_topology), 0u, 0u, 0u, 0u, 0u, 0u, 0u }

/* pacman_context.core_type */
#define PACMAN_CORE_UNIFORM     0u /* all cores are alike */
#define PACMAN_CORE_PERFORMANCE 1u
#define PACMAN_CORE_EFFICIENCY  2u
#define PACMAN_CORE_LOW_POWER   3u

/* One hardware context. */
typedef struct pacman_context {
    uint32_t cpu;       /* Linux's number of the logical CPU */
    uint32_t package;   /* the package (socket) it is in */
    uint32_t core;      /* its core, counted over the machine without holes */
    uint32_t sibling;   /* its position among the core's contexts, from 0 */
    uint32_t node;      /* the NUMA node */
    uint32_t core_type; /* a PACMAN_CORE_ number */
    uint32_t allowed;   /* 1 if this process may run there */
    uint32_t reserved;
} pacman_context;

/*
 * pacman_topology_read: count the machine's contexts, cores and packages
 *
 *   topology   a struct with its size set, by PACMAN_TOPOLOGY_INIT; the other
 *              fields are filled in
 *
 * Reads /sys each time. What is allowed follows the calling thread's affinity
 * mask, or the one it had before a session bound it.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_INVALID   null
 *   PACMAN_E_SIZE      topology->size is none
 *   PACMAN_E_SYSTEM    the system does not tell which CPUs there are
 *
 * Example
 *     pacman_topology machine = PACMAN_TOPOLOGY_INIT;
 *     if (pacman_topology_read(&machine) == PACMAN_OK)
 *         printf("%u cores, %u contexts\n", machine.cores, machine.contexts);
 */
int pacman_topology_read(pacman_topology *topology)
    PACMAN_MUST_CHECK PACMAN_NONNULL(1);

/*
 * pacman_topology_contexts: list the machine's hardware contexts
 *
 *   contexts       where they go, in order of cpu
 *   n              how many fit
 *   element_size   sizeof(pacman_context)
 *   count          where their number goes
 *
 * Contexts with the same core are SMT siblings: they share the core's units
 * and, on some models, its counters.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_INVALID   null
 *   PACMAN_E_SIZE      n is less than the number of the machine's contexts, which
 *                      pacman_topology_read() counts; an element size that is
 *                      none
 *   PACMAN_E_SYSTEM    the system does not tell which CPUs there are
 */
int pacman_topology_contexts(pacman_context *contexts, size_t n, size_t element_size,
                             size_t *count)
    PACMAN_MUST_CHECK PACMAN_NONNULL(1, 4);

/* ------------------------------------------------------------------------ *
 * 9  Adaptation
 * ------------------------------------------------------------------------ */

/* Chooses how many threads phases use: an opaque handle. */
typedef struct pacman_adapter pacman_adapter;

/* A phase of one adapter: a handle, as pacman_phase is. */
typedef struct pacman_adapt_phase {
    uint64_t id;
} pacman_adapt_phase;

/* pacman_adapt_options.objective: what is to become less. All but the first read
 * the packages' energy through powercap. */
#define PACMAN_OBJECTIVE_TIME                 0u
#define PACMAN_OBJECTIVE_ENERGY               1u
#define PACMAN_OBJECTIVE_ENERGY_DELAY         2u
#define PACMAN_OBJECTIVE_ENERGY_DELAY_SQUARED 3u

/* What an adapter is to do. Begin with PACMAN_ADAPT_OPTIONS_INIT. */
typedef struct pacman_adapt_options {
    uint32_t size;           /* sizeof(pacman_adapt_options) */
    uint32_t abi;            /* PACMAN_ABI */
    uint32_t max_threads;    /* at most so many; 0: one on each context */
    uint32_t objective;      /* a PACMAN_OBJECTIVE_ number */
    uint64_t break_even_ns;  /* shorter phases are left alone; 0: what a decision
                                costs here, and switch_cost_ns, times 100 */
    uint64_t switch_cost_ns; /* what a change of the number of threads costs */
    const char *placement;   /* in which order cores are used: "compact",
                                "scatter", "one-per-core", "siblings-together", or a
                                list such as "0,2,4-7" with a CPU of each core that
                                may be used; null: compact */
    const char *model;       /* the file of a model that says what to sample, made by
                                pacman-pmu train; null: none. For times alone: another
                                objective, and a model that needs counts, are refused */
    const char *machine;     /* what this machine is called in the model; null: by its
                                processor, cores and contexts, as pacman-pmu record does */
} pacman_adapt_options;

#define PACMAN_ADAPT_OPTIONS_INIT \
    { sizeof(pacman_adapt_options), PACMAN_ABI, 0u, PACMAN_OBJECTIVE_TIME, 0u, 0u, NULL, \
      NULL, NULL }

/*
 * pacman_adapt_open: start to adapt
 *
 *   options   what is to become less, and within which limits
 *   adapter   where the handle goes
 *
 * Thread rule: any thread; the contexts that it may use are the ones adapted over.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_INVALID      null, an unknown objective, a placement that cannot be read, a model
 *                         that was cut short or edited, with an objective besides time, or
 *                         whose widest configuration has not the threads that may be used
 *   PACMAN_E_NO_EVENTS        a placement that is an empty list of CPUs
 *   PACMAN_E_NO_PLACE     the model has configurations that this machine does not; the
 *                         placement has a CPU that this machine does not, or too few
 *                         places, as siblings together where no core has two contexts
 *   PACMAN_E_PLACE_NOT_ALLOWED
 *                         the placement needs a CPU that is offline, or kept from the
 *                         process
 *   PACMAN_E_SIZE, PACMAN_E_ABI
 *                         as for pacman_session_open()
 *   PACMAN_E_UNSUPPORTED  energy is wanted, and the machine does not tell it; the model is for
 *                         another machine, or needs counts
 *   PACMAN_E_PERMISSION   energy is wanted, and this process may not read it
 *   PACMAN_E_SYSTEM       the system does not tell which CPUs there are; the model's file
 *                         cannot be read
 */
int pacman_adapt_open(const pacman_adapt_options *options, pacman_adapter **adapter)
    PACMAN_MUST_CHECK PACMAN_NONNULL(1, 2);

/*
 * pacman_adapt_close: stop adapting
 *
 *   adapter   the handle, which is no handle from here on, nor are its phases
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE   not an open adapter
 */
int pacman_adapt_close(pacman_adapter *adapter);

/*
 * pacman_adapt_phase_define: the adapted phase of that name, made when it is named first
 *
 *   adapter   an open adapter
 *   name      one line of text, not empty; it is copied
 *   phase     where the handle goes
 *
 * Thread rule: any thread. Takes a lock: define phases ahead of the loop.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open adapter
 *   PACMAN_E_INVALID   an empty name or one of several lines; null
 */
int pacman_adapt_phase_define(const pacman_adapter *adapter, const char *name,
                              pacman_adapt_phase *phase)
    PACMAN_MUST_CHECK PACMAN_NONNULL(2, 3);

/*
 * pacman_adapt_threads: how many threads should the next execution use?
 *
 *   phase     a phase of an open adapter
 *   threads   where the number goes, 1 or more; also where the call fails: then as
 *             many as the process may use
 *
 * The answer is for the calling thread's next execution, which
 * pacman_adapt_done() ends. To ask again without that leaves the first one out.
 * A program may go on without looking at the status: the number always works.
 *
 * Thread rule: calling thread. Several threads may each execute the phase.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE         not a phase of an open adapter
 *   PACMAN_E_NOT_ATTACHED   the thread is ending, and remembers no executions
 *   PACMAN_E_INVALID        threads is null
 *
 * Example
 *     int threads;
 *     pacman_adapt_threads(sweep, &threads);
 *     #pragma omp parallel for num_threads(threads)
 *     for (i = 0; i < n; i++) relax(i);
 *     pacman_adapt_done(sweep, PACMAN_ADAPT_ELAPSED);
 */
int pacman_adapt_threads(pacman_adapt_phase phase, int *threads)
    PACMAN_NONNULL(2);

/* pacman_adapt_done(): the time since pacman_adapt_threads(). */
#define PACMAN_ADAPT_ELAPSED (-1.0)

/*
 * pacman_adapt_done: the execution has ended
 *
 *   phase     the phase that was asked about
 *   seconds   what it took, or PACMAN_ADAPT_ELAPSED
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE        not a phase of an open adapter
 *   PACMAN_E_PHASE_ORDER   the thread has not asked since the last execution
 *   PACMAN_E_INVALID       a time that is 0, negative or no number: the execution
 *                          is left out. After three in a row the phase runs with
 *                          all threads for good.
 *   PACMAN_E_NO_PLACE      the configuration was dropped meanwhile; left out
 * None of them needs an answer: the program goes on.
 */
int pacman_adapt_done(pacman_adapt_phase phase, double seconds);

/*
 * pacman_adapt_cpus: on which logical CPUs the threads should run
 *
 *   phase   a phase that the calling thread has asked about
 *   cpus    where they go, by thread
 *   n       how many fit
 *   count   where their number goes: what pacman_adapt_threads() said
 *
 * Threads share cores as the chosen configuration wants. Binding them is up to
 * the program: pacman_attach_cpu(), sched_setaffinity().
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE        not a phase of an open adapter
 *   PACMAN_E_PHASE_ORDER   the thread has not asked since the last execution
 *   PACMAN_E_INVALID       cpus or count is null
 *   PACMAN_E_SIZE          there are more than n
 *   PACMAN_E_NO_PLACE      the configuration was dropped meanwhile
 */
int pacman_adapt_cpus(pacman_adapt_phase phase, uint32_t *cpus, size_t n, size_t *count)
    PACMAN_MUST_CHECK PACMAN_NONNULL(2, 4);

/*
 * pacman_adapt_why: why the next execution runs as it does, in one line
 *
 *   phase   a phase of an open adapter
 *   line    where the text goes, closed by a zero and cut to fit; 512 bytes are
 *           enough for most
 *   n       bytes that fit
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not a phase of an open adapter
 *   PACMAN_E_INVALID   line is null
 *   PACMAN_E_SIZE      n is 0
 */
int pacman_adapt_why(pacman_adapt_phase phase, char *line, size_t n)
    PACMAN_NONNULL(2);

/*
 * pacman_adapt_refresh: look at the machine again
 *
 *   adapter   an open adapter
 *   dropped   where the number of configurations goes that are gone; null if not
 *             wanted
 *
 * Call it when the CPUs that the process may use may have changed. Call it from a
 * thread that is not bound: what it may use counts for the process.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE   not an open adapter
 *   PACMAN_E_SYSTEM   the system does not tell which CPUs there are
 */
int pacman_adapt_refresh(const pacman_adapter *adapter, size_t *dropped);

#ifdef __cplusplus
}
#endif

#endif /* PACMAN_H */
