/* The library that is preloaded: entries that jump, and what loads the engine behind them.
 *
 * Every process of a job gets this file, so it needs nothing that any C library lacks: no other library, no
 * version of a symbol, and only weak references. Entries jump through `pacman_omp_slots`: to the next definition
 * until the engine (libpacman_omp_engine.so) is there, then to the engine's own entries. The engine is loaded
 * where something can be observed: at the start if a loaded file has an OpenMP runtime, MPI or a library whose
 * calls mark phases, otherwise when libgomp is initialised or at the first call of such a function.
 *
 * build.rs compiles it with the table of `src/function.rs`. `src/stub.rs` is the engine's side. */
#define _GNU_SOURCE
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "functions.h"
#if defined __x86_64__
#include "arch/x86_64.h"
#elif defined __aarch64__
#include "arch/aarch64.h"
#endif
#include "bind.h"

#define EXPORTED __attribute__((visibility("default")))

typedef void *(*look_up)(void *, const char *);

/* The engine's view of the stub; `src/stub.rs` has the same structure. */
struct stub {
    uint64_t table;          /* A hash of the table of functions. */
    uint64_t ticks, nanos;   /* When this process began: the processor's counter, CLOCK_MONOTONIC. */
    uint32_t pid;            /* The process that began then: not the child of a fork. */
    uint32_t is_late;        /* The program has begun before the engine is loaded. */
    uint32_t is_loaded;      /* Set by the engine, after the slots. */
    uint32_t files_at_start; /* The files that were loaded when the process began: the first of the loader's list. */
    void **slots;
    void *(*next)(look_up, const char *);
    void *(*find)(uintptr_t base, const ElfW(Dyn) *, const char *);
    uint32_t (*bind)(uintptr_t); /* Binds the references of the file with that address to the C library. */
};

extern void *pacman_omp_slots[COUNT];
extern const char pacman_omp_unresolved[COUNT][16];

static void *next(look_up dlsym, const char *name);
static void *find_in(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name);
static uint32_t bind_engine(uintptr_t address);
EXPORTED struct stub pacman_omp_stub = {
    .table = TABLE, .slots = pacman_omp_slots, .next = next, .find = find_in, .bind = bind_engine,
};

/* AddressSanitizer ends a program that loads any library before it, because the library could hide calls from it.
 * Entries pass every call on. A program's own definition comes before this one. */
EXPORTED const char *__asan_default_options(void) {
    return "verify_asan_link_order=0";
}

enum { UNTRIED, FAILED };
static int state;

static const char *name_of(unsigned function) {
    return NAMES + starts[function];
}

static int is_of_c(unsigned function) {
    return kinds[function] == OF_THE_C_LIBRARY || kinds[function] == ASKED_BY_LIBGOMP;
}

/* Something can be observed in a process with this file loaded. */
static int is_observable(const struct file *file) {
    for (unsigned at = 0; at < COUNT; at++)
        if (!is_of_c(at) && find(file, name_of(at), hashes[at])) return 1;
    /* The engine names itself to Kokkos as a tool, before the program begins. */
    for (const char *at = file->path; *at; at++)
        if (begins_with(at, "kokkoscore")) return 1;
    return 0;
}

/* The definition behind each function of the C library, once known. */
static void *behind[COUNT];

static uint64_t loads_at_start;
static int has_begun;

struct scan {
    unsigned files;
    uint64_t loads;    /* How many files were ever loaded. */
    int is_after;      /* This library has been passed. */
    int sees_all;      /* Also files before this library. */
    int is_observable;
    int asks;          /* Whether `is_observable` is to be found out. */
    const char *path;
};

static int scan(struct dl_phdr_info *info, size_t size, void *data) {
    struct scan *this = data;
    struct file file;
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs)) this->loads = info->dlpi_adds;
    this->files += !this->sees_all;
    if (!read_file(info, &file)) return 0;
    if (file.dynamic == _DYNAMIC) {
        this->is_after = 1;
        this->path = file.path;
        return 0;
    }
    for (unsigned at = 0; at < COUNT && (this->is_after || this->sees_all); at++)
        if (is_of_c(at) && !behind[at]) behind[at] = find(&file, name_of(at), hashes[at]);
    if (this->asks && !this->is_observable) this->is_observable = is_observable(&file);
    return 0;
}

/* Looks at all loaded files, and lets the entries of the C library's functions go on to these. */
static struct scan look_around(int asks) {
    struct scan result = { .asks = asks, .path = "" };
    if (!c.dl_iterate_phdr) return result;
    c.dl_iterate_phdr(scan, &result);
    /* A runtime may have loaded this library as its tool, behind all others. */
    for (unsigned at = 0; at < COUNT; at++) result.sees_all |= is_of_c(at) && !behind[at];
    if (result.sees_all) c.dl_iterate_phdr(scan, &result);
    for (unsigned at = 0; at < COUNT; at++) {
        void *unresolved = (void *)pacman_omp_unresolved[at];
        if (kinds[at] == OF_THE_C_LIBRARY && behind[at])
            __atomic_compare_exchange_n(&pacman_omp_slots[at], &unresolved, behind[at], 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
    }
    return result;
}

static char *joined(char *at, char *end, const char *text) {
    while (*text && at < end) *at++ = *text++;
    return at;
}

/* Whether the environment asks for a recording. The program may change it later. */
static int is_asked;

static int is_asked_now(void) {
    for (char **at = &__environ ? __environ : 0; at && *at; at++)
        if (begins_with(*at, "PACMAN_OMP_")) return 1;
    return 0;
}

/* Lets functions go on to the next definition for ever, and says why where something should be recorded. */
static void fail(const char *why) {
    if (__atomic_exchange_n(&state, FAILED, __ATOMIC_RELAXED) == FAILED) return;
    if (!is_asked && !is_asked_now()) return;
    char line[1024], *end = line + sizeof line - 1;
    char *at = joined(line, end, "libpacman_omp.so: cannot load libpacman_omp_engine.so: ");
    at = joined(joined(at, end, why), end, "; nothing of this process is recorded");
    *at++ = '\n';
    kernel(SYS_write, 2, (long)line, at - line, 0, 0, 0);
}

/* The paths of this library, as the loader has it, and of the engine. */
static const char *own_path;
static char engine_path[PATH_MAX + 32];

/* The engine lies beside this library, whatever link names it. The program may change its directory later. */
static void keep_paths(const char *path) {
    own_path = path;
    if (!c.realpath || !c.realpath(path, engine_path)) joined(engine_path, engine_path + PATH_MAX, path);
    char *end = engine_path;
    for (char *at = engine_path; *at; at++)
        if (*at == '/') end = at + 1;
    *joined(end, engine_path + sizeof engine_path - 1, "libpacman_omp_engine.so") = 0;
}

/* The engine has asked for its references to be bound, and that could not be done. */
static int is_unbound;

static uint32_t bind_engine(uintptr_t address) {
    is_unbound = !bind_to_c(address);
    return !is_unbound;
}

static void load(void) {
    if (!c.gnu_get_libc_version) return fail("the program's C library is not glibc");
    if (!c.dlopen) return fail("the program's C library has no dlopen");
    if (!own_path) {
        /* The constructor of another file comes before this one's. */
        struct scan seen = look_around(0);
        keep_paths(seen.path);
        pacman_omp_stub.files_at_start = seen.files;
    }
    int cancel = 0, no = PTHREAD_CANCEL_DISABLE;
    if (c.pthread_setcancelstate) c.pthread_setcancelstate(no, &cancel);
    /* A handler may call a runtime, and would load the engine within its load. The kernel ends a process that blocks a
     * fault of its own instructions. */
    static const int faults[] = { SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
    sigset_t all, signals;
    __builtin_memset(&all, 0xff, sizeof all);
    for (unsigned at = 0; at < sizeof faults / sizeof *faults; at++)
        ((unsigned long *)&all)[0] &= ~(1ul << (faults[at] - 1));
    int is_blocked = c.pthread_sigmask && !c.pthread_sigmask(SIG_BLOCK, &all, &signals);
    int *error = __errno_location ? __errno_location() : 0, before = error ? *error : 0;
    /* In a namespace of dlmopen, into which a runtime has loaded this library, glibc has no global scope to add to. */
    void *engine = 0, *own = c.dlopen(own_path, RTLD_NOW | RTLD_NOLOAD);
    Lmid_t namespace = LM_ID_BASE;
    int is_apart = own && c.dlinfo && !c.dlinfo(own, RTLD_DI_LMID, &namespace) && namespace != LM_ID_BASE;
    if (!is_apart) {
        /* The engine refers to this library, which a runtime may have loaded for itself alone. */
        c.dlopen(own_path, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
        engine = c.dlopen(engine_path, RTLD_NOW | RTLD_LOCAL);
    }
    if (is_apart) {
        fail("the runtime is in a namespace of its own (dlmopen)");
    } else if (!engine) {
        const char *why = c.dlerror ? c.dlerror() : 0;
        fail(why ? why : "dlopen failed");
    } else if (!__atomic_load_n(&pacman_omp_stub.is_loaded, __ATOMIC_ACQUIRE)) {
        fail(is_unbound ? "its references cannot be bound to the C library"
                        : "it did not start (install both files of one release)");
    }
    if (error) *error = before;
    if (is_blocked) c.pthread_sigmask(SIG_SETMASK, &signals, 0);
    if (c.pthread_setcancelstate) c.pthread_setcancelstate(cancel, 0);
}

static void load_late(void) {
    pacman_omp_stub.is_late = 1;
    load();
}

static long zero(void) {
    return 0;
}

static long one(void) {
    return 1;
}

static void run_body(void (*body)(void *), void *data) {
    body(data);
}

struct search {
    const char *name;
    uint32_t hash;
    int is_after;
    unsigned files;
    void *at_start, *first; /* After this library among the files of the start, and anywhere. */
};

static int search(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *this = data;
    struct file file;
    int is_at_start = this->files++ < pacman_omp_stub.files_at_start;
    if (!read_file(info, &file)) return 0;
    if (file.dynamic == _DYNAMIC) return this->is_after = 1, 0;
    void *found = find(&file, this->name, this->hash);
    if (!this->first) this->first = found;
    if (this->is_after && is_at_start && !this->at_start) this->at_start = found;
    return 0;
}

/* The definition after this library in the global scope, on behalf of the engine: dlsym asks who calls it. */
static void *next(look_up dlsym, const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(found)); /* A call in the last place would be a jump. */
    return found;
}

/* The function of that name in the tables of a loaded file. */
static void *find_in(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name) {
    struct file file = { .base = base, .dynamic = dynamic };
    return read_tables(&file) ? find(&file, name, gnu_hash(name)) : 0;
}

/* The function to go on to in a process without the engine: the global scope's, or one that the caller's file
 * brings. Files of the start stay loaded, so theirs need no second search. */
static void *without_engine(unsigned function, uintptr_t caller) {
    struct search found = { .name = name_of(function), .hash = hashes[function] };
    if (c.dl_iterate_phdr) c.dl_iterate_phdr(search, &found);
    if (found.at_start) {
        __atomic_store_n(&pacman_omp_slots[function], found.at_start, __ATOMIC_RELAXED);
        return found.at_start;
    }
    if (found.first) {
        void *real = c.dlsym ? next(c.dlsym, name_of(function)) : 0;
        struct wanted calling = { .address = caller };
        if (!real && c.dl_iterate_phdr(is_wanted, &calling))
            real = find_among_needed(&calling.file, name_of(function), hashes[function]);
        return real ? real : found.first;
    }
    /* Programs that run without a runtime ask whether they have one by a weak reference, and find an entry. */
    switch (kinds[function]) {
    case STARTS_A_TEAM: return run_body;
    case COUNTS_THREADS: return one;
    default: return zero;
    }
}

/* Whether the loader initialises libgomp, for which libgomp asks this. A plugin that brings libgomp may wait in its own
 * constructor for a thread that starts a region. That thread could not load the engine: the loader's lock is held. */
static int comes_with(uintptr_t caller) {
    struct wanted calling = { .address = caller };
    const char *own = "GOMP_parallel";
    return c.dl_iterate_phdr && c.dl_iterate_phdr(is_wanted, &calling) && find(&calling.file, own, gnu_hash(own));
}

/* The function to go on to at a call of an entry that has none yet. The assembly of `arch` calls it. */
void *pacman_omp_target(unsigned function, uintptr_t caller) {
    void *unresolved = (void *)pacman_omp_unresolved[function], *target;
    find_c_library();
    int may_load = !is_of_c(function) || kinds[function] == ASKED_BY_LIBGOMP;
    if (is_of_c(function) && !behind[function]) look_around(0);
    if (may_load && __atomic_load_n(&state, __ATOMIC_RELAXED) == UNTRIED)
        if (!is_of_c(function) || (has_begun && comes_with(caller))) load_late();
    target = __atomic_load_n(&pacman_omp_slots[function], __ATOMIC_ACQUIRE);
    if (target == unresolved && is_of_c(function)) target = behind[function];
    return target && target != unresolved ? target : without_engine(function, caller);
}

/* The program, or the user, names Kokkos another tool: the engine then withdraws before the program begins. */
static int names_a_tool(char **words, char **variables) {
    int names = 0;
    for (; words && *words; words++) names |= begins_with(*words, "--kokkos-tools-lib");
    for (; variables && *variables; variables++) names |= begins_with(*variables, "KOKKOS_PROFILE_LIBRARY=");
    return names;
}

/* The arguments are there with glibc only. */
__attribute__((constructor)) static void begin(int count, char **words, char **variables) {
    struct timespec now = { 0 };
    find_c_library();
    if (c.clock_gettime) c.clock_gettime(CLOCK_MONOTONIC, &now);
    pacman_omp_stub.nanos = now.tv_sec * 1000000000ull + now.tv_nsec;
    pacman_omp_stub.ticks = ticks_now();
    pacman_omp_stub.pid = kernel(SYS_getpid, 0, 0, 0, 0, 0, 0);
    struct scan seen = look_around(1);
    pacman_omp_stub.files_at_start = seen.files;
    loads_at_start = seen.loads;
    is_asked = is_asked_now();
    int has_tool = 0;
    if (c.gnu_get_libc_version) {
        keep_paths(seen.path);
        has_tool = names_a_tool(words, variables);
    }
    has_begun = 1;
    if ((seen.is_observable || has_tool) && state == UNTRIED && !pacman_omp_stub.is_loaded) load();
}

/* A runtime that was loaded later and that no call reached: the engine notes it at the end. */
__attribute__((destructor)) static void end(void) {
    if (state == FAILED || pacman_omp_stub.is_loaded || look_around(0).loads == loads_at_start) return;
    if (look_around(1).is_observable) load_late();
}
