/* The program wraps functions of the C library that pass this library: its wrapper calls the next one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

#include "verify.h"

static __thread int is_inside;

/* libomp calls it as well. */
long syscall(long number, ...) {
    static long (*real)(long, ...);
    long words[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) words[i] = va_arg(list, long);
    va_end(list);
    VERIFY(!is_inside);
    is_inside = 1;
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long answer = real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    is_inside = 0;
    return answer;
}

void *dlopen(const char *path, int flags) {
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    VERIFY(!path || !strstr(path, "engine"));
    return real(path, flags);
}

int main(void) {
    static int cells[4000];
    unsigned long mask[128];
    for (int step = 0; step < 60; step++) {
#pragma omp parallel for schedule(dynamic, 100)
        for (int i = 0; i < 4000; i++) cells[i]++;
        VERIFY(syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) > 0);
    }
    for (int i = 0; i < 4000; i++) VERIFY(cells[i] == 60);
    puts("60 regions");
}
