/* Look-ups in the symbol tables of the loaded files, without dlsym: musl and older C libraries have it elsewhere. */
#ifndef PACMAN_LINK_MAP_H
#define PACMAN_LINK_MAP_H

#include <link.h>
#include <stdint.h>

struct file {
    uintptr_t base;
    const ElfW(Dyn) *dynamic;
    const ElfW(Sym) *symbols;
    const char *strings, *path;
    const ElfW(Half) *versions;
    const uint32_t *gnu, *sysv;
};

static int is_same(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

static int begins_with(const char *text, const char *begin) {
    while (*begin && *begin == *text) begin++, text++;
    return !*begin;
}

/* glibc stores addresses in the dynamic section, musl leaves offsets there. */
static const void *place(const struct file *file, uintptr_t value) {
    return (const void *)(value < file->base ? file->base + value : value);
}

/* Reads where a file with a dynamic section has its tables; 0 if it has no symbols. */
static int read_tables(struct file *file) {
    for (const ElfW(Dyn) *entry = file->dynamic; entry->d_tag != DT_NULL; entry++) {
        const void *table = place(file, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB: file->symbols = table; break;
        case DT_STRTAB: file->strings = table; break;
        case DT_VERSYM: file->versions = table; break;
        case DT_GNU_HASH: file->gnu = table; break;
        case DT_HASH: file->sysv = table; break;
        }
    }
    return file->symbols && file->strings && (file->gnu || file->sysv);
}

/* As read_tables, of a file in the loader's list. */
static int read_file(const struct dl_phdr_info *info, struct file *file) {
    *file = (struct file){ .base = info->dlpi_addr, .path = info->dlpi_name ? info->dlpi_name : "" };
    for (int at = 0; at < info->dlpi_phnum; at++)
        if (info->dlpi_phdr[at].p_type == PT_DYNAMIC)
            file->dynamic = (const ElfW(Dyn) *)(file->base + info->dlpi_phdr[at].p_vaddr);
    return file->dynamic && read_tables(file);
}

/* The address if symbol `at` defines `name` in the version that a look-up without version gets. */
static void *defined(const struct file *file, uint32_t at, const char *name) {
    const ElfW(Sym) *symbol = file->symbols + at;
    int type = ELF64_ST_TYPE(symbol->st_info), hidden = 0x8000;
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL) return 0;
    if (type != STT_NOTYPE && type != STT_FUNC && type != STT_GNU_IFUNC) return 0;
    if (file->versions && (file->versions[at] & hidden)) return 0;
    if (!is_same(file->strings + symbol->st_name, name)) return 0;
    uintptr_t address = file->base + symbol->st_value;
    return type == STT_GNU_IFUNC ? ((void *(*)(void))address)() : (void *)address;
}

static void *find_gnu(const struct file *file, const char *name, uint32_t hash) {
    uint32_t buckets = file->gnu[0], first = file->gnu[1], words = file->gnu[2];
    if (!buckets || !words) return 0;
    const uint64_t *bloom = (const uint64_t *)(file->gnu + 4);
    const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;
    uint64_t word = bloom[hash / 64 % words];
    if (!(word >> hash % 64 & word >> (hash >> file->gnu[3]) % 64 & 1)) return 0;
    uint32_t at = bucket[hash % buckets];
    for (; at >= first; at++) {
        uint32_t other = chain[at - first];
        void *found = (other | 1) == (hash | 1) ? defined(file, at, name) : 0;
        if (found || other & 1) return found;
    }
    return 0;
}

static void *find_sysv(const struct file *file, const char *name) {
    uint32_t hash = 0, buckets = file->sysv[0];
    for (const char *at = name; *at; at++) {
        hash = (hash << 4) + (unsigned char)*at;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    uint32_t at = buckets ? file->sysv[2 + hash % buckets] : 0;
    for (; at; at = file->sysv[2 + buckets + at]) {
        void *found = defined(file, at, name);
        if (found) return found;
    }
    return 0;
}

static uint32_t gnu_hash(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* The function of that name in a file; `hash` is GNU's hash of the name. */
static void *find(const struct file *file, const char *name, uint32_t hash) {
    return file->gnu ? find_gnu(file, name, hash) : find_sysv(file, name);
}

static const char *last_part(const char *path) {
    const char *last = path;
    for (; *path; path++)
        if (*path == '/') last = path + 1;
    return last;
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
        void *found = dl_iterate_phdr(is_wanted, &needed) ? find_needed(&needed.file, depth - 1, name, hash) : 0;
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
