/* A small runtime with entries of libgomp's, which asks for a tool when it is loaded and reports to it, as
   libgomp may do one day. Its teams are new threads; a critical section is a mutex. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void (*function)(void);
struct result {
    int (*initialize)(function (*)(const char *), int, uint64_t *);
    void (*finalize)(uint64_t *);
    uint64_t data;
};
extern struct result *ompt_start_tool(unsigned, const char *) __attribute__((weak));

enum { PARALLEL_BEGIN = 3, PARALLEL_END = 4, IMPLICIT_TASK = 7, WAIT = 16, SYNC = 23, ACQUIRE = 26, ACQUIRED = 27 };
static function callbacks[64];
static int reports;

static int set_callback(int event, function callback) {
    callbacks[event % 64] = callback;
    return 5;
}

static function look_up(const char *name) {
    return strcmp(name, "ompt_set_callback") ? 0 : (function)set_callback;
}

__attribute__((constructor)) static void start(void) {
    struct result *tool = ompt_start_tool ? ompt_start_tool(202111, "a runtime of a test") : 0;
    if (tool && !tool->initialize(look_up, 0, &tool->data)) memset(callbacks, 0, sizeof callbacks);
}

/* Calls a callback if the tool has asked for it. */
#define REPORT(event, type, ...) \
    (callbacks[event] ? (__atomic_add_fetch(&reports, 1, __ATOMIC_RELAXED), ((type)callbacks[event])(__VA_ARGS__)) : (void)0)
typedef void (*begin_type)(uint64_t *, void *, uint64_t *, unsigned, int, const void *);
typedef void (*end_type)(uint64_t *, uint64_t *, int, const void *);
typedef void (*task_type)(int, uint64_t *, uint64_t *, unsigned, unsigned, int);
typedef void (*sync_type)(int, int, uint64_t *, uint64_t *, const void *);
typedef void (*acquire_type)(int, unsigned, unsigned, uint64_t, const void *);
typedef void (*acquired_type)(int, uint64_t, const void *);

struct team {
    void (*body)(void *);
    void *data;
    unsigned size;
    uint64_t parallel;
    pthread_barrier_t barrier;
};
static __thread struct member {
    struct team *team;
    unsigned number;
    uint64_t task;
} own;

static void barrier(int kind, const void *caller) {
    for (int point = 1; point <= 2; point++) {
        if (point == 2) pthread_barrier_wait(&own.team->barrier);
        if (point == 1) REPORT(SYNC, sync_type, kind, 1, &own.team->parallel, &own.task, caller);
        REPORT(WAIT, sync_type, kind, point, &own.team->parallel, &own.task, caller);
        if (point == 2) REPORT(SYNC, sync_type, kind, 2, &own.team->parallel, &own.task, caller);
    }
}

static void take_part(struct team *team, unsigned number) {
    struct member around = own;
    own = (struct member){team, number, 0};
    REPORT(IMPLICIT_TASK, task_type, 1, &team->parallel, &own.task, team->size, number, 1);
    team->body(team->data);
    barrier(9, 0);
    REPORT(IMPLICIT_TASK, task_type, 2, 0, &own.task, team->size, number, 1);
    own = around;
}

struct start {
    struct team *team;
    unsigned number;
};

static void *member(void *start) {
    take_part(((struct start *)start)->team, ((struct start *)start)->number);
    return 0;
}

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
    (void)flags;
    struct team team = {body, data, threads ? threads : 3, 0};
    const void *caller = __builtin_return_address(0);
    struct start starts[64];
    pthread_t others[64];
    pthread_barrier_init(&team.barrier, 0, team.size);
    REPORT(PARALLEL_BEGIN, begin_type, &own.task, 0, &team.parallel, team.size, 1, caller);
    for (unsigned number = 1; number < team.size; number++) {
        starts[number] = (struct start){&team, number};
        if (pthread_create(&others[number], 0, member, &starts[number])) abort();
    }
    take_part(&team, 0);
    for (unsigned number = 1; number < team.size; number++) pthread_join(others[number], 0);
    REPORT(PARALLEL_END, end_type, &team.parallel, &own.task, 1, caller);
    pthread_barrier_destroy(&team.barrier);
}

void GOMP_barrier(void) { barrier(3, __builtin_return_address(0)); }

static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER;

void GOMP_critical_start(void) {
    REPORT(ACQUIRE, acquire_type, 5, 0, 1, (uint64_t)&critical, __builtin_return_address(0));
    pthread_mutex_lock(&critical);
    REPORT(ACQUIRED, acquired_type, 5, (uint64_t)&critical, __builtin_return_address(0));
}

void GOMP_critical_end(void) { pthread_mutex_unlock(&critical); }

int omp_get_thread_num(void) { return own.number; }
int omp_get_num_threads(void) { return own.team ? own.team->size : 1; }
int omp_get_max_threads(void) { return 3; }
int omp_get_level(void) { return own.team != 0; }
/* Only libgomp has this one. */
void GOACC_parallel_keyed(void) { abort(); }
/* For the program: whether a tool was told anything. */
int runtime_reports(void) { return reports; }
