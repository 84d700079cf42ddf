/* The loaded files, and this library's references to the C library.
 *
 * A program may have functions of its own named `read` or `dlopen`. Alone the C library does not mind: within itself it
 * uses other names. But the linker exports such a function where the C library has the name, and the loader takes the
 * program's function for all references by that name. So this library looks its references up in the tables of the C
 * library's own file. Names that begin with an underscore are the C library's in every program, by ISO C. */
#ifndef PACMAN_LINK_MAP_H
#define PACMAN_LINK_MAP_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tables.h"

const char *gnu_get_libc_version(void);

/* Each C library has either. */
extern struct r_debug *_dl_debug_addr;
extern char **__environ;

#pragma weak _dl_debug_addr
#pragma weak _r_debug
#pragma weak __environ
#pragma weak __errno_location
#pragma weak clock_gettime
#pragma weak dl_iterate_phdr
#pragma weak dlerror
#pragma weak dlinfo
#pragma weak dlopen
#pragma weak dlsym
#pragma weak getpagesize
#pragma weak gnu_get_libc_version
#pragma weak pthread_setcancelstate
#pragma weak pthread_sigmask
#pragma weak realpath

#define FUNCTIONS_OF_C(each)                                                                      \
    each(clock_gettime) each(dl_iterate_phdr) each(dlerror) each(dlinfo) each(dlopen) each(dlsym) \
    each(getpagesize) each(gnu_get_libc_version) each(pthread_setcancelstate)                     \
    each(pthread_sigmask) each(realpath)

/* The C library's functions; null where it has none of that name. */
#define MEMBER(name) __typeof__(&name) name;
static struct { FUNCTIONS_OF_C(MEMBER) } c;

/* The function of that name in the C library. Before glibc 2.34 some are in files of their own. */
static void *find_of_c(const struct link_map *library, const struct link_map *first, const char *name) {
    static const char *const others[] = { "libdl.so.2", "libpthread.so.0" };
    uint32_t hash = gnu_hash(name);
    struct file file = { .base = library->l_addr, .dynamic = library->l_ld };
    void *found = read_tables(&file) ? find(&file, name, hash) : 0;
    for (const struct link_map *at = first; at && !found; at = at->l_next) {
        const char *path = at->l_name ? last_part(at->l_name) : "";
        if (!is_same(path, others[0]) && !is_same(path, others[1])) continue;
        file = (struct file){ .base = at->l_addr, .dynamic = at->l_ld };
        found = read_tables(&file) ? find(&file, name, hash) : 0;
    }
    return found;
}

/* Finds the C library, which has the function that is never the program's. In a namespace of dlmopen it is not in the
 * list, and the loader binds references to it: the program's functions are in another namespace. */
static void find_c_library(void) {
    static int is_done;
    if (__atomic_load_n(&is_done, __ATOMIC_ACQUIRE)) return;
    const struct r_debug *list = &_r_debug ? &_r_debug : &_dl_debug_addr ? _dl_debug_addr : 0;
    const struct link_map *first = list ? list->r_map : 0, *library = first;
    const char *own = "__errno_location";
    for (; library; library = library->l_next) {
        struct file file = { .base = library->l_addr, .dynamic = library->l_ld };
        if (file.dynamic && read_tables(&file) && find(&file, own, gnu_hash(own)) == __errno_location) break;
    }
#define FIND(name) c.name = library ? find_of_c(library, first, #name) : name;
    FUNCTIONS_OF_C(FIND)
    __atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
}

/* A file to be found among the loaded ones: the one that has an address, or the one that others need by a name. */
struct wanted {
    uintptr_t address;
    const char *name;
    int is_found;
    struct file file;
};

static int is_wanted(struct dl_phdr_info *info, size_t size, void *data) {
    struct wanted *wanted = data;
    struct file file;
    if (!read_file(info, &file)) return 0;
    for (int at = 0; wanted->address && at < info->dlpi_phnum; at++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[at];
        uintptr_t within = wanted->address - file.base - part->p_vaddr;
        wanted->is_found |= part->p_type == PT_LOAD && within < part->p_memsz;
    }
    if (wanted->name) {
        wanted->is_found = is_same(last_part(file.path), last_part(wanted->name));
        for (const ElfW(Dyn) *entry = file.dynamic; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_SONAME) wanted->is_found |= is_same(file.strings + entry->d_un.d_val, wanted->name);
    }
    if (wanted->is_found) wanted->file = file;
    return wanted->is_found;
}

/* The function of that name in the files that are `depth` steps of dependency from a file. */
static void *find_needed(const struct file *file, int depth, const char *name, uint32_t hash) {
    if (!depth) return find(file, name, hash);
    for (const ElfW(Dyn) *entry = file->dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag != DT_NEEDED) continue;
        struct wanted needed = { .name = file->strings + entry->d_un.d_val };
        void *found = c.dl_iterate_phdr(is_wanted, &needed) ? find_needed(&needed.file, depth - 1, name, hash) : 0;
        if (found) return found;
    }
    return 0;
}

/* The function of that name in a file or in those that it needs, the nearest first. */
static void *find_among_needed(const struct file *file, const char *name, uint32_t hash) {
    enum { DEEPEST = 3 };
    void *found = 0;
    for (int depth = 0; depth <= DEEPEST && !found; depth++) found = find_needed(file, depth, name, hash);
    return found;
}

#endif
