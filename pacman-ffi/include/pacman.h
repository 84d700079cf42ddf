/*
 * pacman.h: hardware performance counters per thread on SMT cores
 *
 *     #include <pacman.h>
 *
 *     PACMAN_REGION("sweep") {
 *         sweep();
 *     }
 *
 * counts that block in every thread that runs it. PACMAN_REPORT=report.json ./demo
 * leaves the counts of all threads; without the variable the block just runs.
 * Section 10 has the rest. For more, a program opens a session:
 *
 * A session counts a set of events. Each thread attaches itself and marks the
 * phases that it runs. If the session has a placement, attaching also binds the
 * thread to a hardware context. A report shows the counts by thread and phase.
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
 *         pacman_attach(session);          // each time: returns at once if attached
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
 *           10 regions
 *
 *
 * THREADS
 *
 * Each function has one of two thread rules:
 *
 *   "any thread"      Call the function from any thread, at the same time as any
 *                     other function, also on the same session.
 *   "calling thread"  Call the function from any thread. It acts for that thread
 *                     alone, and threads do not wait for each other.
 *
 * No function needs a lock around it. A thread may close a session that other
 * threads use: calls under way finish, and later calls return PACMAN_E_HANDLE.
 *
 * A signal handler may call pacman_begin() and pacman_end(), and no other
 * function. If the signal interrupted one of these two on the same thread, the
 * call returns PACMAN_E_REENTERED and changes nothing. The first pacman_end() of a
 * phase on a thread may allocate memory, unless the phase is one of the session's
 * first 16: such an end should not be in a handler. A phase that a handler begins and
 * does not end stays open: the program's own pacman_end() then returns
 * PACMAN_E_PHASE_ORDER and names it.
 *
 * Exit handlers may call every function, and so may destructors of static objects
 * and of thread-specific data. Reports work there too. A thread is detached when
 * its thread-local storage ends; for the main thread that is before the first
 * exit handler. From then on pacman_attach() and calls that need an attachment
 * return PACMAN_E_NOT_ATTACHED, with a message that the thread is ending.
 *
 * A program that closes all descriptors, as daemons do, also closes the counters
 * of its sessions. Calls that read them then return PACMAN_E_SYSTEM. The library
 * does not touch files that the program opens later under the same numbers.
 * Detach and attach again to go on counting.
 *
 * No function is a cancellation point: a thread that is cancelled during a call
 * finishes the call. The library does not support asynchronous cancellation
 * (PTHREAD_CANCEL_ASYNCHRONOUS): POSIX allows only three functions under it.
 *
 * After fork() the child has a copy of the handles, but the counters stay the
 * parent's: calls that read them return PACMAN_E_FORKED. The child closes its
 * copy of the session and may open a new one, also under the same name. A report
 * of the copy has the counts from before the fork. It leaves out a row that a
 * thread was writing at that moment, and has a note about it.
 *
 * The process may fork while other threads are inside calls of a session. With
 * an adapter it may fork only while no other thread is inside a call, or if the
 * child calls exec() next. A child of a bare clone() must not use the library: it
 * must not close handles, and calls that read counters may die of SIGSEGV.
 *
 * On x86-64 and AArch64 the library leaves the program's floating-point state
 * alone: its own computations raise no traps and keep the rounding mode and the
 * flags.
 *
 *
 * ERRORS
 *
 * Functions return an int. Failure is negative and has a name (section 2).
 * Success is PACMAN_OK (0), or PACMAN_ALREADY (1) from the attaching functions.
 * So test for "< 0".
 *
 * Every failure also leaves one line of text in a buffer of the calling thread.
 * The line has the request, its object, the system's error and a remedy. The
 * buffer has a fixed place until the thread ends, so that
 *
 *     printf("%d %s\n", pacman_begin(session, phase), pacman_last_error());
 *
 * prints the line that belongs to the code, in any order of evaluation. The next
 * failing call of the same thread overwrites the line; a successful call leaves
 * it alone.
 *
 * Arguments have one order: the handle, the request, the places for results. The
 * number of elements that fit follows each array. Functions write results only on
 * success, except pacman_adapt_threads(). Do not pass results of this library to
 * free(). A defect inside the library does not unwind into the program: the call
 * returns PACMAN_E_INTERNAL.
 *
 * Handles are numbers that the library looks up and never dereferences. Null,
 * closed or foreign handles give PACMAN_E_HANDLE.
 *
 *
 * GROWTH OF THE ABI
 *
 * Structs begin with their size in bytes. The library copies the part that both
 * sides know. Fields that an older program lacks count as zero. Fields of a newer
 * program that this library does not know must be zero, or the call returns
 * PACMAN_E_SIZE: the library never ignores a request silently. Reserved fields
 * are zero. Enumerations have the type uint32_t. A new function, field, flag or
 * code raises PACMAN_ABI_MINOR. A change that would break a compiled program
 * raises PACMAN_ABI_MAJOR and the soname.
 *
 * Opening a session or an adapter compares the ABIs. PACMAN_OPTIONS_INIT and
 * PACMAN_ADAPT_OPTIONS_INIT put PACMAN_ABI into the options. A library of another
 * major, or of a lower minor, returns PACMAN_E_ABI. Programs that load the library
 * with dlopen() can call pacman_abi_check() first.
 */
#ifndef PACMAN_H
#define PACMAN_H

#include <stddef.h>
#include <stdint.h>

/* With these attributes compilers warn if a program ignores an important status,
 * or passes null for a required argument. PACMAN_NO_ATTRIBUTES removes them. */
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
#define PACMAN_ABI_MINOR 4u
#define PACMAN_ABI       ((PACMAN_ABI_MAJOR << 16) | PACMAN_ABI_MINOR)

/*
 * pacman_version: the library's version
 *
 * The version of the loaded library, for problem reports. PACMAN_VERSION is the
 * version of the header. Use pacman_abi_check() to decide whether they fit.
 *
 * Thread rule: any thread.
 *
 * Returns a string such as "0.1.0", never null. The string lives as long as the
 * library.
 */
const char *pacman_version(void);

/*
 * pacman_abi_check: check that this library serves programs of an ABI
 *
 *   abi   the PACMAN_ABI that the program was compiled with
 *
 * Opening a session makes the same check, so programs linked in the usual way
 * need not call this function. Programs that dlopen() the library should call it
 * before they look up other functions.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK      the library has all that the header declares
 *   PACMAN_E_ABI   it has not, or the number is invalid; the message says which
 *                  of the two is older
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
/* The handle is null, closed or foreign: not that of an open session, or not of
 * one of its phases. */
#define PACMAN_E_HANDLE (-2)
/* A malformed argument: null for a required pointer, bad syntax, a value out of
 * range, an unknown flag. */
#define PACMAN_E_INVALID (-3)
/* A struct of an impossible size, or with fields that this library does not know;
 * an array that is too short for the results. */
#define PACMAN_E_SIZE (-4)
/* Header and library do not fit together. */
#define PACMAN_E_ABI (-5)
/* The thread is attached to this session, but not where it asks to be. */
#define PACMAN_E_ALREADY_ATTACHED (-6)
/* Another thread closed the session during the call. */
#define PACMAN_E_CLOSED (-7)
/* The events exist, but cannot be counted together or with running counters. */
#define PACMAN_E_CONFLICT (-8)
/* The calling thread is not attached to the session. */
#define PACMAN_E_NOT_ATTACHED (-9)
/* A session of this name is open in this process. */
#define PACMAN_E_DUPLICATE_SESSION (-10)
/* An empty list of events or CPUs. */
#define PACMAN_E_NO_EVENTS (-11)
/* A place of another machine than this one. */
#define PACMAN_E_FOREIGN_TOPOLOGY (-12)
/* The counters belong to the process that this one was forked from. */
#define PACMAN_E_FORKED (-13)
/* The process or the system is out of file descriptors. */
#define PACMAN_E_NO_DESCRIPTORS (-14)
/* The machine lacks the hardware context, or every place of the placement is
 * taken. */
#define PACMAN_E_NO_PLACE (-15)
/* The machine offers no hardware counters (no PMU, or a VM without one). */
#define PACMAN_E_NO_PMU (-16)
/* The kernel took the counters away, or never gave them. */
#define PACMAN_E_NOT_SCHEDULED (-17)
/* Access is refused: paranoia level, capability or seccomp. */
#define PACMAN_E_PERMISSION (-18)
/* The ended phase was not begun, or not begun last. */
#define PACMAN_E_PHASE_ORDER (-19)
/* The context exists, but this process may not run there. */
#define PACMAN_E_PLACE_NOT_ALLOWED (-20)
/* The operating system refused for a reason of its own. */
#define PACMAN_E_SYSTEM (-21)
/* More events than one session holds. */
#define PACMAN_E_TOO_MANY_EVENTS (-22)
/* No event has the name; the message lists the nearest names. */
#define PACMAN_E_UNKNOWN_EVENT (-23)
/* The request is known, but this machine, model or kernel cannot do it. */
#define PACMAN_E_UNSUPPORTED (-24)
/* No thread with the number has attached. */
#define PACMAN_E_NO_THREAD (-25)
/* The thread has not published a sample yet. */
#define PACMAN_E_NO_SAMPLE (-26)
/* The report could not be written: descriptor, file or pipe. */
#define PACMAN_E_OUTPUT (-27)
/* A signal handler interrupted pacman_begin() or pacman_end() on its own thread, so
 * it cannot begin or end a phase. Nothing was changed. */
#define PACMAN_E_REENTERED (-28)

/*
 * pacman_last_error: the message of the calling thread's last failing call
 *
 * One line in English without a newline, at most 1,023 bytes of UTF-8. ERRORS
 * above says how long it stays.
 *
 * Thread rule: calling thread. The pointer is the same for all calls of a
 * thread. Other threads must not use it, and it is invalid after the thread ends.
 *
 * Returns the text, or "" if no call of this thread has failed. Never null.
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
 *   status   the status that a function returned
 *
 * Use it for logs that keep only the number. pacman_last_error() says more.
 *
 * Thread rule: any thread.
 *
 * Returns the code's name and meaning, such as
 * "PACMAN_E_NOT_ATTACHED: the thread is not attached". For any other number it
 * returns "unknown PACMAN status". The string lives as long as the library. Never
 * null.
 */
const char *pacman_strerror(int status);

/* ------------------------------------------------------------------------ *
 * 3  Sessions
 * ------------------------------------------------------------------------ */

/* A session: an opaque handle. */
typedef struct pacman_session pacman_session;

/* pacman_options.flags: the kernel may multiplex if there are too few counters.
 * Counts then cover a part of the time, and the report has both raw and estimated
 * values. Without this flag a group of events is on its counters whenever its
 * thread runs, or calls return PACMAN_E_NOT_SCHEDULED. */
#define PACMAN_MULTIPLEXED 1u

/* pacman_options.flags, one of the two: events that do not fit on the counters at
 * once are counted in n sets, which rotate. Each outermost execution of a phase
 * counts one set. The report has the number of executions behind each value, and
 * estimates the rest. The flags have no effect if the events fit. They exclude
 * PACMAN_MULTIPLEXED.
 *   PER_EXECUTION  execution i of a phase on a thread counts set i mod n
 *   STAGGERED      execution i on thread k counts set (i + k) mod n. Use this for
 *                  teams whose threads do the same work: such a team can count all
 *                  events in one execution. */
#define PACMAN_ROTATE_PER_EXECUTION 2u
#define PACMAN_ROTATE_STAGGERED    4u

/* pacman_options.flags: count hardware events through the kernel's driver also if
 * its counts may be wrong, as on a Pentium 4. Every report marks them with the
 * reason. Without this flag a session programs the counters itself on such a
 * processor, which needs root and the msr module. It then binds each thread without
 * a place to one hardware context until the thread detaches. The environment
 * variable PACMAN_TRUST_DRIVER=1 sets the flag for every session of a process. The
 * flag has no effect on other processors and on software events. */
#define PACMAN_TRUST_DRIVER 8u

/* pacman_options.clock: the source of wall time. */
#define PACMAN_CLOCK_BEST      0u /* the TSC where Linux trusts it */
#define PACMAN_CLOCK_TSC       1u /* the time stamp counter, or CNTVCT_EL0 */
#define PACMAN_CLOCK_MONOTONIC 2u /* clock_gettime(CLOCK_MONOTONIC) */

/* The most events of a session, and the most that it counts at a time. A program
 * that was compiled for a maximum of 16 gets PACMAN_E_SIZE for a session of more. */
#define PACMAN_EVENTS_MAX     64
#define PACMAN_EVENTS_AT_ONCE 24

/* The options of a session. Begin with PACMAN_OPTIONS_INIT. */
typedef struct pacman_options {
    uint32_t size;          /* sizeof(pacman_options) */
    uint32_t abi;           /* PACMAN_ABI */
    uint32_t flags;         /* PACMAN_MULTIPLEXED, a PACMAN_ROTATE_,
                               PACMAN_TRUST_DRIVER or 0 */
    uint32_t clock;         /* a PACMAN_CLOCK_ number */
    uint64_t log_samples;   /* single samples to keep per thread, 0 to 2^24;
                               attaching allocates 8 * (3 + events at once)
                               bytes for each */
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
 *   options   the events, the placement and more; the library copies the strings
 *   session   receives the handle
 *
 * EVENTS are names separated by commas. All arrays of counts have their order.
 *
 *   software   task-clock and cpu-clock (nanoseconds), page-faults,
 *              minor-faults, major-faults, context-switches, cpu-migrations
 *              and the like; on every machine, also without a PMU
 *   presets    CYCLES, INSTRUCTIONS, REF_CYCLES, BRANCHES, BRANCH_MISSES,
 *              CACHE_REFERENCES, CACHE_MISSES, STALL_CYCLES and more; hardware
 *              events that have one meaning on every model
 *   TOPDOWN    all events of this model's issue slots by category
 *   the model's own
 *              the vendor's names, such as UOPS_ISSUED.STALL_CYCLES
 *   raw codes  r and hexadecimal digits, from the processor's manual
 *
 * `pacman-pmu list` shows the presets and the model's own events of this machine.
 * `pacman-pmu list --cpu NAME` shows those of another model.
 *
 * Hardware events count in user mode. With ":k" after the name they count in the
 * kernel, with ":uk" in both. Each event counts the work of its thread, and not the
 * work of the sibling on the same core.
 *
 * A PLACEMENT gives the contexts of its sequence to attaching threads, in order of
 * attaching. A context is free again when its thread detaches.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_INVALID            null; a malformed name or list; an unknown
 *                               modifier, flag or clock; a log beyond 2^24
 *                               samples; a CPU listed twice
 *   PACMAN_E_SIZE               options.size is invalid, or the options have
 *                               fields that this library does not know
 *   PACMAN_E_ABI                header and library do not fit together
 *   PACMAN_E_NO_EVENTS          an empty list of events or of CPUs
 *   PACMAN_E_UNKNOWN_EVENT      the message has the nearest names
 *   PACMAN_E_TOO_MANY_EVENTS    more than PACMAN_EVENTS_MAX, or without rotation
 *                               more than PACMAN_EVENTS_AT_ONCE
 *   PACMAN_E_DUPLICATE_SESSION  the name is taken
 *   PACMAN_E_NO_PLACE           the machine lacks a listed CPU, or for
 *                               "siblings-together" a core with two contexts
 *   PACMAN_E_PLACE_NOT_ALLOWED  a listed CPU is offline, or the process may not
 *                               use it; for "siblings-together", it may use no
 *                               core with two contexts
 *   PACMAN_E_NO_PMU, PACMAN_E_PERMISSION, PACMAN_E_UNSUPPORTED,
 *   PACMAN_E_CONFLICT, PACMAN_E_NO_DESCRIPTORS, PACMAN_E_SYSTEM
 *                               the machine cannot count the events
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
 *         options.events = "task-clock";         // every machine counts this
 *         status = pacman_session_open(&options, &session);
 *     }
 */
int pacman_session_open(const pacman_options *options, pacman_session **session)
    PACMAN_MUST_CHECK PACMAN_NONNULL(1, 2);

/*
 * pacman_session_close: end a session
 *
 *   session   the handle, which becomes invalid
 *
 * The name is free when all calls under way on the session have returned. The
 * calling thread is detached. Every other attached thread keeps its counters and
 * its CPU until its next attach, its next use of the closed handle, or its end.
 * Write reports before you close a session, because its counts are lost.
 *
 * Thread rule: any thread. Calls of other threads that are under way finish.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE   not an open session, for instance closed before
 */
int pacman_session_close(pacman_session *session);

/*
 * pacman_event_count: the number of events that a session counts
 *
 *   session   an open session
 *   count     receives the number, 1 to PACMAN_EVENTS_MAX
 *
 * On a hybrid processor, such as Alder Lake, an event of options.events counts on
 * all core types. Behind these events the session has what each core type counted
 * of them, as events of their own: "cpu_core/CYCLES/", "cpu_atom/CYCLES/".
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
 *   event     its number: the position in options.events, from 0; on a hybrid
 *             processor also the numbers behind these
 *   name      receives the string, such as "INSTRUCTIONS" for "instructions:u"
 *
 * The string lives until the process ends, also after the session is closed.
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
 * pacman_event_unit: the unit of one count of an event
 *
 *   session   an open session
 *   event     its number, from 0
 *   unit      receives the string: "cycles", "ns", "faults", ...
 *
 * The string lives until the process ends.
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
 * pacman_sets: the event sets of a session
 *
 *   session   an open session
 *   sets      receives one word for each set: bit e is 1 if the set counts event e
 *   n         the number of words that fit; PACMAN_EVENTS_MAX is always enough
 *   count     receives the number of sets: 1 unless sets rotate
 *
 * Every set has the events that the kernel itself counts, and the hardware events
 * for which every set has a counter left. Each other event is in one set.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   sets or count is null
 *   PACMAN_E_SIZE      the session has more than n sets
 */
int pacman_sets(const pacman_session *session, uint64_t *sets, size_t n, size_t *count)
    PACMAN_MUST_CHECK PACMAN_NONNULL(2, 4);

/* ------------------------------------------------------------------------ *
 * 4  Phases
 * ------------------------------------------------------------------------ */

/* The handle of a phase of one session. The number has a meaning only for the
 * library; 0 is not a valid phase. */
typedef struct pacman_phase {
    uint64_t id;
} pacman_phase;

/*
 * pacman_phase_define: return the phase with a name; the first call makes it
 *
 *   session   an open session
 *   name      one line of text, not empty; the library copies it
 *   phase     receives the handle
 *
 * A phase is a recurring part of the program. The same name gives the same handle
 * on every thread. A session has at most 65,536 phases. A phase takes memory only
 * for the threads that run it. This function takes a lock, so define phases before
 * the loops that run them.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   an empty name or one of several lines; null; more phases
 *                      than a session holds
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
 * pacman_peer_read(). Phases may nest, run again and recurse. If user space can
 * read the events, the function makes no system call, otherwise one. It takes the
 * session's lock only at the first use of a phase on a thread. It never allocates.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE          not an open session, or not one of its phases
 *   PACMAN_E_NOT_ATTACHED    the thread is not attached
 *   PACMAN_E_NOT_SCHEDULED   the kernel took the counters away
 *   PACMAN_E_FORKED          the thread attached before this process was forked
 *   PACMAN_E_SYSTEM          the kernel reported another error
 *   PACMAN_E_REENTERED       a signal handler interrupted pacman_begin() or
 *                            pacman_end() on this thread
 * A failed call does not begin the phase.
 */
int pacman_begin(const pacman_session *session, pacman_phase phase);

/*
 * pacman_end: end the phase that the calling thread began last
 *
 *   session   a session to which the thread is attached
 *   phase     the phase begun last and not ended yet
 *
 * Reads the counters again and adds the difference to the thread's row for the
 * phase: sum, minimum and maximum of wall time and of each event. An execution
 * inside another one of the same phase counts as a recursion, and its cost goes to
 * the outer execution.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_PHASE_ORDER     the phase was not begun, or another one was begun
 *                            later and is still open. The message names that
 *                            one. Nothing has changed.
 *   PACMAN_E_REENTERED       as for pacman_begin(); nothing has changed
 *   PACMAN_E_HANDLE, PACMAN_E_NOT_ATTACHED, PACMAN_E_NOT_SCHEDULED,
 *   PACMAN_E_FORKED, PACMAN_E_SYSTEM
 *                            as for pacman_begin(). If the counters could not
 *                            be read, the phase has ended, and the report notes
 *                            an uncounted execution.
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
 * Opens the thread's counters. If the session has a placement, the function binds
 * the thread to the next free place. Otherwise the thread stays where it runs.
 *
 * Workers of a pool attach themselves. In OpenMP, call this function at the top of
 * a parallel region, each time the region runs. New members of the team attach; the
 * others get PACMAN_ALREADY in a few nanoseconds.
 *
 * A thread may be attached to several sessions. If it ends while attached, the
 * library detaches it, and the report has a note about it.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_ALREADY             the thread was attached: nothing was done
 *   PACMAN_E_HANDLE            not an open session
 *   PACMAN_E_NO_PLACE          every place of the placement is taken
 *   PACMAN_E_PLACE_NOT_ALLOWED, PACMAN_E_SYSTEM
 *                              binding failed
 *   PACMAN_E_NO_DESCRIPTORS, PACMAN_E_PERMISSION, PACMAN_E_NOT_SCHEDULED,
 *   PACMAN_E_CONFLICT, PACMAN_E_NO_PMU
 *                              opening the counters failed
 *   PACMAN_E_CLOSED            another thread closed the session meanwhile
 *   PACMAN_E_FORKED            the session was opened before this process was forked
 * A failed call restores descriptors, place and affinity mask.
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
 *   cpu       Linux's number of the logical CPU (hardware context)
 *
 * The thread runs there until it detaches, which restores its old mask. Several
 * threads may share a context, and each has its own counts.
 * pacman_topology_contexts() shows which contexts share a core.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_ALREADY              the thread is attached and bound to the CPU
 *   PACMAN_E_ALREADY_ATTACHED   the thread is attached, but not bound to the CPU
 *   PACMAN_E_NO_PLACE           the machine lacks the context
 *   PACMAN_E_PLACE_NOT_ALLOWED  the context is offline, or this process may not
 *                               use it
 *   and the others of pacman_attach()
 */
int pacman_attach_cpu(const pacman_session *session, uint32_t cpu);

/*
 * pacman_detach: end the calling thread's attachment
 *
 *   session   an open session
 *
 * Closes the counters and restores the thread's mask. The thread's counts stay in
 * the report. The report notes an execution of a phase that is still open, and
 * does not count it. The thread may attach again, and then gets a new number.
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
 *   number    receives the number: from 0, in order of attaching, never reused
 *
 * Reports and pacman_peer_read() use this number. It is not OpenMP's number.
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
 *   counts    receives the counts, in the order of the session's events
 *   n         the number of words that fit: at least the number of events in
 *             options.events; further words are left alone
 *
 * Counts are raw and only grow. Only the difference of two readings on the same
 * thread has a meaning. With PACMAN_MULTIPLEXED they are not scaled. The function
 * takes no lock, allocates nothing and costs at most as much as pacman_begin().
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE          not an open session
 *   PACMAN_E_NOT_ATTACHED    the thread is not attached
 *   PACMAN_E_INVALID         counts is null
 *   PACMAN_E_SIZE            n is less than the number of events in options.events
 *   PACMAN_E_UNSUPPORTED     sets rotate: use pacman_sample()
 *   PACMAN_E_NOT_SCHEDULED   the kernel took the counters away
 *   PACMAN_E_FORKED          the thread attached before this process was forked
 *   PACMAN_E_SYSTEM          the kernel reported another error
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
 * pacman_sample: read the calling thread's counters of the current event set
 *
 *   session   a session to which the thread is attached
 *   counts    receives the counts, in the order of the session's events; words of
 *             events outside of the current set are left alone
 *   n         the number of words that fit: at least the number of events in
 *             options.events
 *   live      receives a mask: bit e is 1 if event e is counted now
 *   epoch     receives the number of changes of the set so far; may be null
 *
 * This function is for sessions with rotating sets. If all events are counted at
 * once, it returns the same as pacman_read(), with every event live and epoch 0. Subtract two
 * samples of one thread only if their epochs are equal, and only for live events.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE          not an open session
 *   PACMAN_E_NOT_ATTACHED    the thread is not attached
 *   PACMAN_E_INVALID         counts or live is null
 *   PACMAN_E_SIZE            n is less than the number of events in options.events
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
 * Each begin and end of a phase publishes the counts as well. Call this function
 * during a long phase, so that pacman_peer_read() finds recent counts.
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
 * pacman_thread_count: the number of threads that have attached so far
 *
 *   session   an open session
 *   count     receives the number, which includes detached threads. Thread numbers
 *             are 0 to count - 1.
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
 *   counts    receives its counts, in the order of the session's events
 *   n         the number of words that fit: at least the number of events in
 *             options.events
 *   age_ns    receives the age of the counts, in nanoseconds; may be null
 *
 * With this function a thread sees the work of its SMT sibling, or a controller
 * the work of its workers. No thread can read the counters of another context. So
 * each thread publishes a sample at every begin and end of a phase, and at
 * pacman_publish(). All counts of a sample are of one moment. The function makes
 * no system call and does not disturb the other thread. The first call for a
 * thread takes the session's lock.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE      not an open session
 *   PACMAN_E_NO_THREAD   no thread of that number has attached
 *   PACMAN_E_NO_SAMPLE   the thread has published nothing yet
 *   PACMAN_E_INVALID     counts is null
 *   PACMAN_E_SIZE        n is less than the number of events in options.events
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
 * pacman_peer_sample: the latest counts that a thread has published, of the event
 * set that was on its counters
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
 *   PACMAN_E_SIZE        n is less than the number of events in options.events
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
 * pacman_report_write: write a report to a file descriptor
 *
 *   session   an open session
 *   format    a PACMAN_FORMAT_ number
 *   fd        an open descriptor, such as STDOUT_FILENO; fflush() a stdio stream
 *             of the descriptor before the call
 *
 * Threads go on counting during the call, and all values of a row are of one
 * moment. The table depends on the terminal's width and on the environment
 * (COLUMNS, NO_COLOR, the locale). If the descriptor is non-blocking and full, the
 * function waits.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   an unknown format
 *   PACMAN_E_OUTPUT    the descriptor is closed, its reader is gone or the disk is
 *                      full. A part may have been written. The call does not
 *                      raise SIGPIPE.
 */
int pacman_report_write(const pacman_session *session, uint32_t format, int fd);

/*
 * pacman_report_save: write a report to a file
 *
 *   session   an open session
 *   format    a PACMAN_FORMAT_ number
 *   path      the file. The complete report replaces an existing file; after a
 *             failure that file is unchanged. Devices, pipes and links are
 *             written in place.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE    not an open session
 *   PACMAN_E_INVALID   an unknown format, or path is null
 *   PACMAN_E_OUTPUT    the file cannot be created or written
 *
 * Example
 *     pacman_report_save(session, PACMAN_FORMAT_JSON, "phases.json");
 */
int pacman_report_save(const pacman_session *session, uint32_t format, const char *path)
    PACMAN_MUST_CHECK PACMAN_NONNULL(3);

/* The count of one event in one phase on one thread. Begin with
 * PACMAN_COUNT_INIT. */
typedef struct pacman_count {
    uint32_t size;       /* sizeof(pacman_count) */
    uint32_t estimated;  /* 1 if value is an estimate, 0 if it is the sum */
    uint64_t value;      /* the best value for the sum over all executions */
    uint64_t executions; /* finished executions of the phase on the thread */
    uint64_t samples;    /* executions that counted the event: all, unless sets rotate */
    uint64_t sum;        /* raw sum over the samples */
    uint64_t min;        /* the least count of a sample */
    uint64_t max;        /* the greatest count of a sample */
    uint64_t implausible; /* executions with an impossible value; no field above
                             contains them, and reports say which they are */
    uint64_t doubtful;   /* 1 if all counts of the event may be wrong: the kernel's
                            driver is not trusted on this processor */
} pacman_count;

#define PACMAN_COUNT_INIT { sizeof(pacman_count), 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u }

/*
 * pacman_count_read: the count of one event in one phase on one thread so far
 *
 *   session   an open session
 *   thread    the number of a thread, from pacman_thread_number()
 *   phase     a phase of the session
 *   event     the event's number, from 0
 *   count     a struct with its size set by PACMAN_COUNT_INIT; the function fills
 *             in the other fields
 *
 * Returns one value. To get many values write a report: each call builds a full
 * one. If only some executions counted the event, the value is
 * sum * executions / samples, and estimated is 1.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE      not an open session, or not one of its phases
 *   PACMAN_E_NO_THREAD   no thread of that number has attached
 *   PACMAN_E_NO_SAMPLE   no finished execution has counted the event, so its count
 *                        is unknown and not 0
 *   PACMAN_E_INVALID     no event has the number, or count is null
 *   PACMAN_E_SIZE        count->size is invalid
 */
int pacman_count_read(const pacman_session *session, size_t thread, pacman_phase phase,
                      size_t event, pacman_count *count)
    PACMAN_MUST_CHECK PACMAN_NONNULL(5);

/* ------------------------------------------------------------------------ *
 * 8  The machine
 * ------------------------------------------------------------------------ */

/* Numbers of the machine's parts. Begin with PACMAN_TOPOLOGY_INIT. */
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
 *   topology   a struct with its size set by PACMAN_TOPOLOGY_INIT; the function
 *              fills in the other fields
 *
 * Reads /sys each time. The allowed contexts are those of the calling thread's
 * affinity mask. If a session has bound the thread, its mask from before counts.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_INVALID   topology is null
 *   PACMAN_E_SIZE      topology->size is invalid
 *   PACMAN_E_SYSTEM    the system does not list its CPUs
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
 *   contexts       receives the contexts, in order of cpu
 *   n              the number of contexts that fit
 *   element_size   sizeof(pacman_context)
 *   count          receives the number of contexts
 *
 * Contexts with the same core are SMT siblings: they share the core's units
 * and, on some models, its counters.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_INVALID   contexts or count is null
 *   PACMAN_E_SIZE      n is less than the number of contexts, which
 *                      pacman_topology_read() returns; an invalid element size
 *   PACMAN_E_SYSTEM    the system does not list its CPUs
 */
int pacman_topology_contexts(pacman_context *contexts, size_t n, size_t element_size,
                             size_t *count)
    PACMAN_MUST_CHECK PACMAN_NONNULL(1, 4);

/* ------------------------------------------------------------------------ *
 * 9  Adaptation
 * ------------------------------------------------------------------------ */

/* An opaque handle of an adapter, which chooses the number of threads of phases. */
typedef struct pacman_adapter pacman_adapter;

/* The handle of a phase of one adapter. */
typedef struct pacman_adapt_phase {
    uint64_t id;
} pacman_adapt_phase;

/* pacman_adapt_options.objective: the quantity to minimise. All but the first read
 * the packages' energy through powercap or perf. */
#define PACMAN_OBJECTIVE_TIME                 0u
#define PACMAN_OBJECTIVE_ENERGY               1u
#define PACMAN_OBJECTIVE_ENERGY_DELAY         2u
#define PACMAN_OBJECTIVE_ENERGY_DELAY_SQUARED 3u

/* The options of an adapter. Begin with PACMAN_ADAPT_OPTIONS_INIT. */
typedef struct pacman_adapt_options {
    uint32_t size;           /* sizeof(pacman_adapt_options) */
    uint32_t abi;            /* PACMAN_ABI */
    uint32_t max_threads;    /* the most threads; 0: as many as can run at once */
    uint32_t objective;      /* a PACMAN_OBJECTIVE_ number */
    uint64_t break_even_ns;  /* leave shorter phases alone; 0: 100 times the sum of
                                a decision's measured cost and switch_cost_ns */
    uint64_t switch_cost_ns; /* the cost of a change of the number of threads */
    const char *placement;   /* the order of cores: "compact", "scatter",
                                "one-per-core", "siblings-together", or a list such
                                as "0,2,4-7" with a CPU of each core to use; null:
                                compact */
    const char *model;       /* the file of a model that chooses samples, made by
                                pacman-pmu train; null: none. The objective must be
                                time, and the model must not need counts. */
    const char *machine;     /* this machine's name in the model; null: the name that
                                pacman-pmu record makes of processor, cores and
                                contexts */
    double max_loss;         /* the most that adaptation may cost, as a part of the time
                                without it, from 0 to 1; 0: 0.01. Five times as much
                                before a phase has run 120 times */
} pacman_adapt_options;

#define PACMAN_ADAPT_OPTIONS_INIT \
    { sizeof(pacman_adapt_options), PACMAN_ABI, 0u, PACMAN_OBJECTIVE_TIME, 0u, 0u, NULL, \
      NULL, NULL, 0.0 }

/*
 * pacman_adapt_open: start to adapt
 *
 *   options   the objective, the limits and more
 *   adapter   receives the handle
 *
 * Thread rule: any thread. The adapter uses the contexts that this thread may use.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_INVALID      null; an unknown objective; a malformed placement; a
 *                         loss outside 0 to 1; a damaged or edited model; a model
 *                         with another objective than time; a model whose widest
 *                         configuration has another number of threads than this
 *                         adapter may use
 *   PACMAN_E_NO_EVENTS    the placement is an empty list of CPUs
 *   PACMAN_E_NO_PLACE     the machine lacks a configuration of the model or a CPU of
 *                         the placement, or the placement has too few places, as
 *                         "siblings-together" without a core with two contexts
 *   PACMAN_E_PLACE_NOT_ALLOWED
 *                         the placement needs a CPU that is offline, or that the
 *                         process may not use
 *   PACMAN_E_SIZE, PACMAN_E_ABI
 *                         as for pacman_session_open()
 *   PACMAN_E_UNSUPPORTED  the objective needs energy, which the machine does not
 *                         measure; the model is for another machine, or needs counts
 *   PACMAN_E_PERMISSION   the objective needs energy, which this process may not read
 *   PACMAN_E_SYSTEM       the system does not list its CPUs; the model's file cannot
 *                         be read
 */
int pacman_adapt_open(const pacman_adapt_options *options, pacman_adapter **adapter)
    PACMAN_MUST_CHECK PACMAN_NONNULL(1, 2);

/*
 * pacman_adapt_close: stop adapting
 *
 *   adapter   the handle, which becomes invalid, as do the handles of its phases
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE   not an open adapter
 */
int pacman_adapt_close(pacman_adapter *adapter);

/*
 * pacman_adapt_phase_define: return the adapted phase with a name; the first call
 * makes it
 *
 *   adapter   an open adapter
 *   name      one line of text, not empty; the library copies it
 *   phase     receives the handle
 *
 * Thread rule: any thread. The function takes a lock, so define phases before the
 * loop.
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
 * pacman_adapt_threads: the number of threads for the next execution
 *
 *   phase     a phase of an open adapter
 *   threads   receives the number, 1 or more. If the call fails, it receives the
 *             number of contexts that the process may use.
 *
 * The number is for the calling thread's next execution, which pacman_adapt_done()
 * ends. A second call before that replaces the first, which then does not count. A
 * program may ignore the status, because the number always works.
 *
 * Thread rule: calling thread. Several threads may each execute the phase.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE         not a phase of an open adapter
 *   PACMAN_E_NOT_ATTACHED   the thread is ending, and cannot remember executions
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
 * pacman_adapt_done: report the end of an execution
 *
 *   phase     the phase of the latest pacman_adapt_threads()
 *   seconds   the time of the execution, or PACMAN_ADAPT_ELAPSED
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE        not a phase of an open adapter
 *   PACMAN_E_PHASE_ORDER   the thread has not called pacman_adapt_threads() since
 *                          its last execution
 *   PACMAN_E_INVALID       the time is 0, negative or not a number. The controller
 *                          ignores the execution. After three in a row the phase
 *                          always runs with all threads.
 *   PACMAN_E_NO_PLACE      the configuration was dropped meanwhile; the controller
 *                          ignores the execution
 * A program may ignore all of these errors.
 */
int pacman_adapt_done(pacman_adapt_phase phase, double seconds);

/*
 * pacman_adapt_cpus: the logical CPUs for the threads of the next execution
 *
 *   phase   the phase of the latest pacman_adapt_threads()
 *   cpus    receives the CPU of each thread
 *   n       the number of CPUs that fit
 *   count   receives the number of CPUs: that of pacman_adapt_threads()
 *
 * Threads share cores as in the chosen configuration. The program binds them, by
 * pacman_attach_cpu() or sched_setaffinity().
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE        not a phase of an open adapter
 *   PACMAN_E_PHASE_ORDER   the thread has not called pacman_adapt_threads() since
 *                          its last execution
 *   PACMAN_E_INVALID       cpus or count is null
 *   PACMAN_E_SIZE          the execution has more than n threads
 *   PACMAN_E_NO_PLACE      the configuration was dropped meanwhile
 */
int pacman_adapt_cpus(pacman_adapt_phase phase, uint32_t *cpus, size_t n, size_t *count)
    PACMAN_MUST_CHECK PACMAN_NONNULL(2, 4);

/*
 * pacman_adapt_why: the reason for the next execution's configuration, in one line
 *
 *   phase   a phase of an open adapter
 *   line    receives the text, cut to fit, with a closing zero; 512 bytes are
 *           enough for most texts
 *   n       the number of bytes that fit
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
 *   dropped   receives the number of dropped configurations; may be null
 *
 * Call it after the CPUs that the process may use may have changed. Call it from an
 * unbound thread: the adapter takes this thread's mask for the process.
 *
 * Thread rule: any thread.
 *
 * Returns
 *   PACMAN_OK
 *   PACMAN_E_HANDLE   not an open adapter
 *   PACMAN_E_SYSTEM   the system does not list its CPUs
 */
int pacman_adapt_refresh(const pacman_adapter *adapter, size_t *dropped);

/* ------------------------------------------------------------------------ *
 * 10  Regions
 * ------------------------------------------------------------------------ */

/*
 * PACMAN_REGION(name) { ... }: count a block
 *
 * Begins the region, runs the block once, and ends the region, also if the block is
 * left by break, return or goto. (Not by longjmp: the region then stays open.) In C++
 * an exception ends it, too. `name` is one line of text, and the same each time at
 * this place. The block stands for "for (...) { ... }", so continue ends it.
 *
 * The first region opens a session for the process, and attaches each thread that
 * begins one. The environment says what becomes of it:
 *   PACMAN_REPORT      the file that has the report when the process exits: JSON if
 *                      its name ends in .json, CSV if in .csv, otherwise a table;
 *                      "-" for a table on standard error
 *   PACMAN_EVENTS      the events, such as CYCLES,INSTRUCTIONS; without it, what
 *                      the machine can count
 *   PACMAN_REPORT_DIR  as for every session
 * pacman-pmu run reports regions as phases. Without any of these the functions below
 * return at once. If the session cannot be opened, one line on standard error says why.
 *
 * A child of fork() counts no regions, and leaves no report.
 *
 * Needs GCC or Clang. Fortran, and other compilers, call the functions.
 */
#if defined(__GNUC__)
#define PACMAN_REGION(name) PACMAN_REGION_AT_LINE_(name, __LINE__)
#define PACMAN_REGION_AT_LINE_(name, line) PACMAN_REGION_AS_(name, line)
#define PACMAN_REGION_AS_(name, line)                                                    \
    for (struct pacman_region_scope pacman_scope_##line                                  \
             __attribute__((cleanup(pacman_region_left_))) = pacman_region_entered_(     \
                 name, __extension__({ static uint64_t pacman_site_; &pacman_site_; })); \
         pacman_scope_##line.once; pacman_scope_##line.once = 0)
#endif

/*
 * pacman_region_begin: begin a region by name on the calling thread
 *
 *   name   one line of text, not empty; the library copies it
 *   site   a word that is 0 at first and serves this name alone, such as a static
 *          variable: it saves the search for the name. Or null.
 *
 * With a site the call costs a few instructions more than pacman_begin(). Without
 * one it takes a lock. Regions nest, run again and recurse, as phases do.
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK           begun, or the figures are not requested
 *   PACMAN_E_INVALID    an empty name or one of several lines; null
 *   otherwise as pacman_attach() and pacman_begin()
 */
int pacman_region_begin(const char *name, uint64_t *site) PACMAN_NONNULL(1);

/*
 * pacman_region_end: end the region that the calling thread began last
 *
 *   name   its name
 *   site   the word given to pacman_region_begin(), or null
 *
 * Thread rule: calling thread.
 *
 * Returns
 *   PACMAN_OK           ended, or the figures are not requested
 *   otherwise as pacman_end()
 */
int pacman_region_end(const char *name, uint64_t *site) PACMAN_NONNULL(1);

#if defined(__GNUC__)
/* The parts of PACMAN_REGION; not for programs. */
struct pacman_region_scope {
    const char *name;
    uint64_t *site;
    int begun;
    int once;
};

static inline struct pacman_region_scope pacman_region_entered_(const char *name, uint64_t *site)
{
    struct pacman_region_scope scope = { name, site, 0, 1 };

    scope.begun = pacman_region_begin(name, site) >= 0;
    return scope;
}

static inline void pacman_region_left_(struct pacman_region_scope *scope)
{
    if (scope->begun)
        (void)pacman_region_end(scope->name, scope->site);
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* PACMAN_H */
