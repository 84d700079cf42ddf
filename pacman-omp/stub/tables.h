/* Look-ups in the symbol tables of a loaded file, without dlsym: musl and older C libraries have it elsewhere. */
#ifndef PACMAN_TABLES_H
#define PACMAN_TABLES_H

#include <link.h>
#include <stdint.h>

struct file {
    uintptr_t base;
    const ElfW(Dyn) *dynamic;
    const ElfW(Sym) *symbols;
    const char *strings, *path;
    const ElfW(Half) *versions;
    const ElfW(Verdef) *defined_versions;
    const ElfW(Verneed) *needed_versions;
    const uint32_t *gnu, *sysv;
    const ElfW(Phdr) *segments;
    unsigned segment_count;
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
        case DT_VERDEF: file->defined_versions = table; break;
        case DT_VERNEED: file->needed_versions = table; break;
        case DT_GNU_HASH: file->gnu = table; break;
        case DT_HASH: file->sysv = table; break;
        }
    }
    return file->symbols && file->strings && (file->gnu || file->sysv);
}

/* As read_tables, of a file in the loader's list. */
static int read_file(const struct dl_phdr_info *info, struct file *file) {
    *file = (struct file){ .base = info->dlpi_addr, .path = info->dlpi_name ? info->dlpi_name : "" };
    file->segments = info->dlpi_phdr;
    file->segment_count = info->dlpi_phnum;
    for (int at = 0; at < info->dlpi_phnum; at++)
        if (info->dlpi_phdr[at].p_type == PT_DYNAMIC)
            file->dynamic = (const ElfW(Dyn) *)(file->base + info->dlpi_phdr[at].p_vaddr);
    return file->dynamic && read_tables(file);
}

static const void *after(const void *place, size_t bytes) {
    return (const char *)place + bytes;
}

/* Whether symbol `at` has that version; without one, whether it is what a look-up without version gets. */
static int has_version(const struct file *file, uint32_t at, const char *version) {
    enum { HIDDEN = 0x8000 };
    if (!file->versions) return 1;
    if (!version) return !(file->versions[at] & HIDDEN);
    const ElfW(Verdef) *one = file->defined_versions;
    while (one && one->vd_ndx != (file->versions[at] & ~HIDDEN)) one = one->vd_next ? after(one, one->vd_next) : 0;
    const ElfW(Verdaux) *name = one ? after(one, one->vd_aux) : 0;
    return name && is_same(file->strings + name->vda_name, version);
}

/* A function to look for: its name, GNU's hash of that, and the version, if not any. */
struct sought {
    const char *name;
    uint32_t hash;
    const char *version;
};

/* The address if symbol `at` defines the function. */
static void *defined(const struct file *file, uint32_t at, const struct sought *sought) {
    const ElfW(Sym) *symbol = file->symbols + at;
    int type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL) return 0;
    if (type != STT_NOTYPE && type != STT_FUNC && type != STT_GNU_IFUNC) return 0;
    if (!is_same(file->strings + symbol->st_name, sought->name) || !has_version(file, at, sought->version)) return 0;
    uintptr_t address = file->base + symbol->st_value;
    return type == STT_GNU_IFUNC ? ((void *(*)(void))address)() : (void *)address;
}

static void *find_gnu(const struct file *file, const struct sought *sought) {
    uint32_t hash = sought->hash;
    uint32_t buckets = file->gnu[0], first = file->gnu[1], words = file->gnu[2];
    if (!buckets || !words) return 0;
    const uint64_t *bloom = (const uint64_t *)(file->gnu + 4);
    const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;
    uint64_t word = bloom[hash / 64 % words];
    if (!(word >> hash % 64 & word >> (hash >> file->gnu[3]) % 64 & 1)) return 0;
    uint32_t at = bucket[hash % buckets];
    for (; at >= first; at++) {
        uint32_t other = chain[at - first];
        void *found = (other | 1) == (hash | 1) ? defined(file, at, sought) : 0;
        if (found || other & 1) return found;
    }
    return 0;
}

static void *find_sysv(const struct file *file, const struct sought *sought) {
    uint32_t hash = 0, buckets = file->sysv[0];
    for (const char *at = sought->name; *at; at++) {
        hash = (hash << 4) + (unsigned char)*at;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    uint32_t at = buckets ? file->sysv[2 + hash % buckets] : 0;
    for (; at; at = file->sysv[2 + buckets + at]) {
        void *found = defined(file, at, sought);
        if (found) return found;
    }
    return 0;
}

static uint32_t gnu_hash(const char *name) {
    uint32_t hash = 5381;
    for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static void *find_sought(const struct file *file, const struct sought *sought) {
    return file->gnu ? find_gnu(file, sought) : find_sysv(file, sought);
}

/* The function of that name in a file; `hash` is GNU's hash of the name. */
static void *find(const struct file *file, const char *name, uint32_t hash) {
    return find_sought(file, &(struct sought){ name, hash, 0 });
}

static const char *last_part(const char *path) {
    const char *last = path;
    for (; *path; path++)
        if (*path == '/') last = path + 1;
    return last;
}

#endif
