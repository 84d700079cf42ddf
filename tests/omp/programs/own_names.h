/* Functions of the program that have names of the C library's and another type. None but the program may call them. */
#ifndef OWN_NAMES_H
#define OWN_NAMES_H

#include "verify.h"

static __thread const char *called_by_us = "";

static double taken(const char *name, double number) {
    if (name != called_by_us) {
        printf("not so: another than the program called its %s\n", name);
        exit(1);
    }
    called_by_us = "";
    return number + 1;
}

#ifdef __cplusplus
#define OF_C extern "C"
#else
#define OF_C extern
#endif

/* Headers declare these names with their usual types, so the symbol alone has the name. */
#define OWN(name)                                                           \
    static const char name_of_##name[] = #name;                             \
    OF_C __attribute__((noinline)) double own_##name(double) __asm__(#name); \
    double own_##name(double number) { return taken(name_of_##name, number); }
#define CALL(name) called_by_us = name_of_##name, sum = own_##name(sum);
#define ONE(name) + 1

/* Calls all of them in 50 regions. */
static void run(double (*called)(void), double number) {
    VERIFY(called() == number);
    for (int step = 0; step < 50; step++) {
        double sum = 0;
#pragma omp parallel for schedule(dynamic, 2) reduction(+ : sum)
        for (int i = 0; i < 100; i++) sum += called();
        VERIFY(sum == 100 * number);
    }
    puts("each function was the program's");
}

/* A program that has these functions, calls them and does nothing else. */
#define PROGRAM(names)          \
    names(OWN)                  \
    static double called(void) { \
        double sum = 0;         \
        names(CALL)             \
        return sum;             \
    }                           \
    int main(void) { run(called, 0 names(ONE)); }

#endif
