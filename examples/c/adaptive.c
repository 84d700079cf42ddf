/*
 * adaptive: four OpenMP phases that ask how many threads they should use
 *
 *   serial     arithmetic by the first thread alone; the others wait at a barrier
 *   scalable   arithmetic of which every thread has its part
 *   memory     a triad over arrays larger than most caches
 *   lock       short critical sections
 *
 * Usage: adaptive [ROUNDS]
 *        adaptive --help
 *
 * Prints for each phase how many threads it came to use, and why. Exit status: 0,
 * 1 if this machine cannot adapt, 2 for invalid arguments.
 *
 * Build: cc -O2 -fopenmp adaptive.c $(pkg-config --cflags --libs pacman) -o adaptive
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omp.h>
#include <pacman.h>

#define ROUNDS 400
#define STEPS 1500000L
#define WORDS (1L << 20)
#define ENTRIES 40000L

#define USAGE "usage: adaptive [ROUNDS]\n"

static double *a, *b, *c;
static double checksum;
static long entries;

/* Where it starts is not known before, so that no compiler does it only once. */
static double arithmetic(double x, long steps)
{
    long i;

    for (i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

static void serial(int threads)
{
    #pragma omp parallel num_threads(threads)
    {
        #pragma omp master
        checksum += arithmetic(checksum, STEPS);
        #pragma omp barrier
    }
}

static void scalable(int threads)
{
    double sum = 0;
    long part;

    #pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (part = 0; part < 64; part++)
        sum += arithmetic(checksum + part, STEPS / 64);
    checksum += sum;
}

static void memory(int threads)
{
    long i;

    #pragma omp parallel for num_threads(threads)
    for (i = 0; i < WORDS; i++)
        a[i] = b[i] + 3.0 * c[i];
}

static void lock(int threads)
{
    long i;

    #pragma omp parallel for num_threads(threads)
    for (i = 0; i < ENTRIES; i++) {
        #pragma omp critical
        entries++;
    }
}

static const struct {
    const char *name;
    void (*run)(int threads);
} kinds[] = { { "serial", serial }, { "scalable", scalable }, { "memory", memory },
              { "lock", lock } };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int complain(void)
{
    fprintf(stderr, "adaptive: %s\n", pacman_last_error());
    return 1;
}

int main(int argc, char **argv)
{
    pacman_adapt_options options = PACMAN_ADAPT_OPTIONS_INIT;
    pacman_adapter *adapter;
    pacman_adapt_phase phases[KINDS];
    long rounds = ROUNDS, round, left_out = 0, i;
    size_t kind;
    char why[512];

    if (argc > 1) {
        char *end;

        if (strcmp(argv[1], "--help") == 0) {
            printf(USAGE);
            return 0;
        }
        rounds = strtol(argv[1], &end, 10);
        if (argc > 2 || *end || rounds < 1) {
            fprintf(stderr, USAGE);
            return 2;
        }
    }
    a = malloc(WORDS * sizeof(*a));
    b = malloc(WORDS * sizeof(*b));
    c = malloc(WORDS * sizeof(*c));
    if (!a || !b || !c) {
        fprintf(stderr, "adaptive: no memory for the arrays\n");
        return 1;
    }
    for (i = 0; i < WORDS; i++)
        a[i] = b[i] = c[i] = 1.0;

    options.break_even_ns = 200000; /* these phases are short, and for show */
    if (pacman_adapt_open(&options, &adapter) < 0)
        return complain();
    for (kind = 0; kind < KINDS; kind++)
        if (pacman_adapt_phase_define(adapter, kinds[kind].name, &phases[kind]) < 0)
            return complain();

    for (round = 0; round < rounds; round++) {
        for (kind = 0; kind < KINDS; kind++) {
            int threads;
            pacman_adapt_threads(phases[kind], &threads);
            kinds[kind].run(threads);
            left_out += pacman_adapt_done(phases[kind], PACMAN_ADAPT_ELAPSED) < 0;
        }
    }
    for (kind = 0; kind < KINDS; kind++)
        if (pacman_adapt_why(phases[kind], why, sizeof(why)) == PACMAN_OK)
            printf("%s\n", why);
    if (left_out)
        printf("%ld executions left out: %s\n", left_out, pacman_last_error());
    if (checksum == 0 || entries == 0)
        return 1;
    free(a);
    free(b);
    free(c);
    return pacman_adapt_close(adapter) < 0 ? complain() : 0;
}
