/* Binds a library's references to the C library to the C library.
 *
 * The loader has bound them by their names alone: to functions of the program that have these names, to entries, and to
 * functions of other preloaded libraries. But each reference has the file that it was linked to, and the version there.
 *
 * Two kinds stay as the loader has bound them. A program may replace the functions of the heap, as the C library's manual
 * says. The C library itself then calls the program's, and callers free what it has allocated for them. And a tool that
 * must know all threads, such as ThreadSanitizer, replaces the functions that make and end them. */
#ifndef PACMAN_BIND_H
#define PACMAN_BIND_H

#include <sys/mman.h>
#include <sys/syscall.h>

#include "link_map.h"

static int may_be_replaced(const char *name) {
    static const char names[] = "aligned_alloc\0calloc\0free\0malloc\0malloc_usable_size\0memalign\0posix_memalign\0"
                                "pvalloc\0realloc\0valloc\0pthread_create\0pthread_detach\0pthread_join\0";
    const char *at = names;
    while (*at && !is_same(at, name)) {
        while (*at) at++;
        at++;
    }
    return *at;
}

/* A library whose references are bound. */
struct bound {
    struct file file;
    const ElfW(Rela) *tables[2];
    size_t counts[2];
    int is_writable; /* Pages that the loader made read-only can be written now. */
};

/* Lets the words that the loader has made read-only be written, or not any more. */
static int protect(const struct bound *bound, int access) {
    uintptr_t page = c.getpagesize ? c.getpagesize() : 4096;
    for (unsigned at = 0; at < bound->file.segment_count; at++) {
        const ElfW(Phdr) *part = &bound->file.segments[at];
        if (part->p_type != PT_GNU_RELRO) continue;
        uintptr_t begin = (bound->file.base + part->p_vaddr) & -page;
        uintptr_t end = (bound->file.base + part->p_vaddr + part->p_memsz) & -page;
        if (end > begin && kernel(SYS_mprotect, begin, end - begin, access, 0, 0, 0)) return 0;
    }
    return 1;
}

/* The name of that version among those that are needed of a file. */
static const char *version_of(const struct file *file, const ElfW(Verneed) *need, unsigned number) {
    const ElfW(Vernaux) *one = after(need, need->vn_aux);
    while (one->vna_other != number) {
        if (!one->vna_next) return 0;
        one = after(one, one->vna_next);
    }
    return file->strings + one->vna_name;
}

/* Binds a reference, if it is to that file; 0 if that cannot be done. */
static int bind_reference(struct bound *bound, const ElfW(Rela) *reference, const ElfW(Verneed) *need,
                           const struct file *to) {
    const struct file *file = &bound->file;
    uint32_t at = ELF64_R_SYM(reference->r_info);
    if (!at || !IS_ADDRESS(ELF64_R_TYPE(reference->r_info)) || file->symbols[at].st_shndx != SHN_UNDEF) return 1;
    const char *name = file->strings + file->symbols[at].st_name;
    const char *version = version_of(file, need, file->versions[at]);
    if (!version || may_be_replaced(name)) return 1;
    const char *found = find_sought(to, &(struct sought){ name, gnu_hash(name), version });
    const char **word = (const char **)(file->base + reference->r_offset);
    if (!found || *word == found + reference->r_addend) return 1;
    if (!bound->is_writable && !protect(bound, PROT_READ | PROT_WRITE)) return 0;
    bound->is_writable = 1;
    *word = found + reference->r_addend;
    return 1;
}

/* Binds all references of the library that has this address; 0 if that cannot be done. */
static uint32_t bind_to_c(uintptr_t address) {
    struct wanted own = { .address = address };
    if (!c.dl_iterate_phdr || !c.dl_iterate_phdr(is_wanted, &own)) return 0;
    struct bound bound = { .file = own.file };
    size_t relative = 0;
    int is_done = 1;
    for (const ElfW(Dyn) *entry = own.file.dynamic; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_RELA: bound.tables[0] = place(&own.file, entry->d_un.d_ptr); break;
        case DT_RELASZ: bound.counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELACOUNT: relative = entry->d_un.d_val; break;
        case DT_JMPREL: bound.tables[1] = place(&own.file, entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: bound.counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        }
    }
    const ElfW(Verneed) *need = own.file.versions ? own.file.needed_versions : 0;
    for (; need; need = need->vn_next ? after(need, need->vn_next) : 0) {
        struct wanted to = { .name = own.file.strings + need->vn_file };
        if (!c.dl_iterate_phdr(is_wanted, &to)) continue;
        for (int table = 0; table < 2; table++)
            for (size_t at = table ? 0 : relative; at < bound.counts[table]; at++)
                is_done &= bind_reference(&bound, &bound.tables[table][at], need, &to.file);
    }
    return is_done & (!bound.is_writable || protect(&bound, PROT_READ));
}

#endif
