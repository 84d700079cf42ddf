/* As own_names.c, with names that libomp itself uses. */
#include "own_names.h"

#define NAMES(each)                                                                                   \
    each(close) each(closedir) each(getrlimit) each(getrusage) each(mmap) each(munmap) each(open)     \
    each(opendir) each(pread) each(pthread_getattr_np) each(pthread_setcancelstate) each(read)        \
    each(sched_getcpu) each(sched_yield) each(setenv) each(sigaction) each(sigfillset) each(unsetenv) \
    each(environ)

PROGRAM(NAMES)
