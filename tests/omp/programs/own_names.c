/* The program has functions of its own that have names of the C library's. OpenMP's runtimes use none of these. */
#include "own_names.h"

#define NAMES(each)                                                                                     \
    each(fcntl) each(fstat) each(getcwd) each(geteuid) each(getppid) each(getrandom) each(gettid)       \
    each(ioctl) each(kill) each(madvise) each(mprotect) each(mremap) each(nanosleep) each(openat)       \
    each(pause) each(poll) each(posix_fallocate) each(pread64) each(pthread_setname_np)                 \
    each(pthread_sigmask) each(pwrite) each(raise) each(readlink) each(realpath) each(sched_getaffinity) \
    each(sched_setaffinity) each(sigaltstack) each(statx) each(uname) each(unlinkat) each(write)        \
    each(writev) each(dl_iterate_phdr) each(dlinfo) each(getauxval) each(gnu_get_libc_version)          \
    each(clock_nanosleep) each(__xpg_strerror_r)

PROGRAM(NAMES)
