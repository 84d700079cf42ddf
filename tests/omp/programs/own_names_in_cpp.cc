// As own_names.c, in C++, whose library uses some names more. An exception passes frames of the runtime.
#include "own_names.h"

#define NAMES(each)                                                                                   \
    each(fcntl) each(geteuid) each(getppid) each(getrandom) each(gettid) each(kill) each(madvise)     \
    each(mprotect) each(mremap) each(pause) each(posix_fallocate) each(pread64) each(raise)           \
    each(pthread_setname_np) each(pthread_sigmask) each(pwrite) each(sched_getaffinity)               \
    each(sched_setaffinity) each(sigaltstack) each(statx) each(uname) each(dlinfo) each(getauxval)    \
    each(gnu_get_libc_version) each(clock_nanosleep)

NAMES(OWN)

static double called() {
    double sum = 0;
    try {
        NAMES(CALL)
        throw sum;
    } catch (double thrown) {
        return thrown;
    }
}

int main() {
    run(called, 0 NAMES(ONE));
}
