// A region for each cause of waits, in a function of that name. .ci/arm knows how often each runs.
#include <omp.h>
#include <stdio.h>

enum { THREADS = 3, TIMES = 5, STEPS = 24 };

static long sum, table[STEPS][STEPS];
static omp_lock_t lock;

static void barrier(void) {
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    {
        sum += omp_get_thread_num();
#pragma omp barrier
        sum += omp_get_num_threads();
    }
}

static void loop(void) {
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(dynamic, 2) reduction(+ : sum)
        for (int i = 0; i < STEPS; i++) sum += i;
    }
}

static void sections(void) {
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
    {
#pragma omp sections
        {
#pragma omp section
            sum += 7;
#pragma omp section
            sum += 9;
        }
    }
}

static void critical(void) {
#pragma omp parallel num_threads(THREADS)
#pragma omp critical
    sum++;
}

static void locked(void) {
#pragma omp parallel num_threads(THREADS)
    {
        omp_set_lock(&lock);
        sum++;
        omp_unset_lock(&lock);
    }
}

// The wait has an argument for each level of the loop: more than registers take, with nine.
static void ordered(void) {
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for ordered(2) schedule(static, 1)
        for (int i = 1; i < STEPS; i++)
            for (int j = 1; j < STEPS; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
                table[i][j] = (table[i - 1][j] + table[i][j - 1] + i + j) % 1000003;
#pragma omp ordered depend(source)
            }
    }
    sum += table[STEPS - 1][STEPS - 1];
}

static long levels(void) {
    long found = 0;
#pragma omp parallel for ordered(9) schedule(static, 1) num_threads(THREADS) reduction(+ : found)
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            for (int c = 0; c < 2; c++)
                for (int d = 0; d < 2; d++)
                    for (int e = 0; e < 2; e++)
                        for (int f = 0; f < 2; f++)
                            for (int g = 0; g < 2; g++)
                                for (int h = 0; h < 2; h++)
                                    for (int i = 0; i < 2; i++) {
#pragma omp ordered depend(sink : a - 1, b, c, d, e, f, g, h, i)
                                        found += a + b + c + d + e + f + g + h + i;
#pragma omp ordered depend(source)
                                    }
    return found;
}

static void tasks(void) {
#pragma omp parallel num_threads(THREADS)
#pragma omp single
    {
        long buffer[80] = { 3 };
        for (int i = 0; i < STEPS; i++) {
#pragma omp task firstprivate(buffer)
#pragma omp atomic
            sum += buffer[0];
        }
#pragma omp taskwait
#pragma omp taskloop grainsize(2)
        for (int i = 0; i < STEPS; i++) {
#pragma omp atomic
            sum += i;
        }
    }
}

// Without an argument the program ends with 0, otherwise with 7.
int main(int count, char **words) {
    omp_init_lock(&lock);
    for (int time = 0; time < TIMES; time++) {
        barrier(), loop(), sections(), critical(), locked(), ordered(), tasks();
        sum += levels();
    }
    printf("%ld\n", sum);
    return count > 1 ? 7 : 0;
}
