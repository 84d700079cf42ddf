/* Two regions with issue slots of known categories, on two siblings with shares of their own. The lab's
 * doorbell makes the slots; slots.rs has the shares.
 *
 * usage: lab-slots intel|zen|core|arm EXECUTIONS SHARES: for each region and thread five shares of the slots
 * in 1/10,000, separated by commas: retiring, bad speculation, frontend, backend, SMT contention.
 *   intel  the processor has fractions of its slots (Ice Lake and later)
 *   zen    each thread has 18 slots an instruction: three cycles of six
 *   core   siblings share four slots a cycle: each thread has 12 an instruction
 *   arm    each thread has 15 slots an instruction, three cycles of five, while its sibling runs */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 2
#define PHASES 2
#define CATEGORIES 5
#define MILLION 1000000L
/* Instructions of a thread in an execution: to wake the other thread takes far less. */
#define LENGTH (8 * MILLION)
/* The part of bad speculation that is recovery, on both threads alike. */
#define RECOVERY 200

enum { RETIRING, BAD, FRONTEND, BACKEND, CONTENTION };

static long shares[PHASES][THREADS][CATEGORIES];
static const char *kind;

#ifdef __aarch64__
/* Waits for the other thread. One that sleeps leaves it all slots of the core. */
static void meet(void)
{
    static unsigned arrived;
    unsigned all = __atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
    for (all = (all + THREADS - 1) / THREADS * THREADS; __atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < all;)
        ;
}

/* An event happens so often in a million instructions. */
static void rate(unsigned long event, unsigned long often)
{
    __asm__ volatile("msr s3_3_c15_c0_3, %0" : : "r"(event << 48 | often));
}

static void begin(const long *of)
{
    long slots = 15 * MILLION / 10000;
    rate(0x3a, slots * of[RETIRING]);
    rate(0x3b, slots * (of[RETIRING] + of[BAD]));
    rate(0x3f, slots * (of[FRONTEND] + of[BACKEND]));
    rate(0x1e2, slots * of[FRONTEND]);
    rate(0x3d, slots * of[BACKEND]);
    /* Cycles in which nothing is dispatched, of three an instruction. */
    rate(0x23, 3 * MILLION / 10000 * of[FRONTEND]);
    rate(0x24, 3 * MILLION / 10000 * of[BACKEND]);
    meet();
}

static void end(int cpu, const long *of)
{
    (void)cpu, (void)of;
    meet();
    __asm__ volatile("msr s3_3_c15_c0_5, xzr");
}

static void spin(unsigned long rounds)
{
    __asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(rounds) : : "cc");
}
#else
static unsigned long bell(unsigned long leaf, unsigned long selector, unsigned long number)
{
    unsigned long low = selector & 0xffffffff, high = selector >> 32;
    __asm__ volatile("cpuid" : "+a"(leaf), "+b"(number), "+c"(low), "+d"(high));
    return leaf;
}

static void fail(const char *what)
{
    fprintf(stderr, "lab-slots: %s\n", what);
    exit(1);
}

/* An event with a unit mask happens so often in a million instructions. */
static void rate(unsigned long selector, unsigned long often)
{
    if (bell(0x4c504d03, selector, often) != 0)
        fail("the doorbell takes no rate");
}

static void fractions(const long *of)
{
    unsigned long word = of[RETIRING] | of[BAD] << 16 | of[FRONTEND] << 32 | of[BACKEND] << 48;
    /* The second level, in CX, stays 0. */
    if (bell(0x4c504d06, 0, word) != 0)
        fail("this processor has no fractions");
}

/* Zen's event of retired operations has no unit mask, which the doorbell wants: its counter is moved. */
static void retire(int cpu, unsigned long number)
{
    char name[32];
    snprintf(name, sizeof name, "/dev/cpu/%d/msr", cpu);
    int file = open(name, O_RDWR);
    for (int counter = 0; counter < 6; counter++) {
        unsigned long control, count;
        if (pread(file, &control, 8, 0xc0010200 + 2 * counter) != 8)
            fail("cannot read a counter");
        if ((control & 0xf0000ffffUL) != 0xc1)
            continue;
        if (pread(file, &count, 8, 0xc0010201 + 2 * counter) != 8)
            fail("cannot read a counter");
        count += number;
        if (pwrite(file, &count, 8, 0xc0010201 + 2 * counter) != 8)
            fail("cannot write a counter");
        close(file);
        return;
    }
    fail("nothing counts retired operations");
}

static void begin(const long *of)
{
    if (!strcmp(kind, "intel"))
        return fractions(of);
    if (!strcmp(kind, "zen")) {
        long slots = 18 * MILLION / 10000;
        rate(0x1aa, slots * (of[RETIRING] + of[BAD]));
        rate(0x1000001a0, slots * of[FRONTEND]);
        rate(0x1000002a0, slots * of[BACKEND]);
        rate(0x1000020a0, slots * of[CONTENTION]);
        return;
    }
    long slots = 12 * MILLION / 10000;
    rate(0x2c2, slots * of[RETIRING]);
    /* The recovery is the core's: four slots a cycle, and each thread has half of it. */
    rate(0x10e, slots * (of[RETIRING] + of[BAD] - RECOVERY));
    rate(0x10d, slots * RECOVERY / 4);
    rate(0x19c, slots * of[FRONTEND]);
}

/* Between regions slots are of another kind. */
static void end(int cpu, const long *of)
{
    static const long other[CATEGORIES] = {0, 10000, 0, 0, 0};
    if (!strcmp(kind, "intel"))
        return fractions(other);
    bell(0x4c504d05, 0, 0);
    if (!strcmp(kind, "zen"))
        retire(cpu, 18 * LENGTH / 10000 * of[RETIRING]);
}

static void spin(unsigned long rounds)
{
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds));
}
#endif

static void work(int phase)
{
    int cpu = omp_get_thread_num();
    begin(shares[phase][cpu]);
    spin(LENGTH / 2);
    end(cpu, shares[phase][cpu]);
}

/* The first region of all makes the threads. */
static void warm_up(void)
{
#pragma omp parallel num_threads(THREADS)
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    if (argc != 3 + PHASES * THREADS)
        return 2;
    kind = argv[1];
    for (int at = 0; at < PHASES * THREADS; at++) {
        long *to = shares[at / THREADS][at % THREADS];
        if (sscanf(argv[3 + at], "%ld,%ld,%ld,%ld,%ld", to, to + 1, to + 2, to + 3, to + 4) != 5)
            return 2;
    }
    warm_up();
    for (long execution = 0; execution < atol(argv[2]); execution++) {
#pragma omp parallel num_threads(THREADS)
        work(0);
#pragma omp parallel num_threads(THREADS)
        work(1);
    }
    return 0;
}
