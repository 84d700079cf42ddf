/*
 * A hybrid: one thread moves between the kinds of core. Events of both PMUs must together count all of
 * its loops. The test opens them by PMU type, and by the generic event with the type in its upper half.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "probe.h"

#define MOVES 10
#define LOOPS 1000000

static int first_cpu(const char *pmu)
{
    char path[64];
    snprintf(path, sizeof(path), "/sys/devices/%s/cpus", pmu);
    return number_in(path);
}

static int type_of(const char *pmu)
{
    char path[64];
    snprintf(path, sizeof(path), "/sys/devices/%s/type", pmu);
    return number_in(path);
}

static uint64_t count(int fd)
{
    uint64_t value = 0;
    if (read(fd, &value, sizeof(value)) != sizeof(value)) {
        perror("read");
        exit(1);
    }
    return value;
}

static int instructions(uint32_t type, uint64_t config)
{
    struct perf_event_attr attr = { .type = type, .config = config, .exclude_kernel = 1 };
    int fd = perf_open(&attr, 0, -1, -1);
    if (fd < 0) {
        perror("perf_event_open");
        exit(1);
    }
    return fd;
}

int main(void)
{
    const char *const pmus[] = { "cpu_core", "cpu_atom" };
    int cpu[2], raw[2], generic[2];
    for (int p = 0; p < 2; p++) {
        cpu[p] = first_cpu(pmus[p]);
        int type = type_of(pmus[p]);
        if (cpu[p] < 0 || type < 0) {
            printf("BAD no %s\n", pmus[p]);
            return 1;
        }
        raw[p] = instructions(type, 0xc0);
        generic[p] = instructions(PERF_TYPE_HARDWARE,
                                  (uint64_t)type << 32 | PERF_COUNT_HW_INSTRUCTIONS);
    }
    run_on(cpu[0]);
    uint64_t raw0[2], generic0[2];
    for (int p = 0; p < 2; p++) {
        raw0[p] = count(raw[p]);
        generic0[p] = count(generic[p]);
    }
    /* Five visits to each kind, with loops of different lengths. */
    for (int m = 0; m < MOVES; m++) {
        run_on(cpu[m % 2]);
        spin(m % 2 ? 2 * LOOPS : LOOPS);
    }
    /* All are read before the first is printed: printing is work of this thread, too. */
    double counted[4];
    for (int p = 0; p < 2; p++) {
        counted[p] = count(raw[p]) - raw0[p];
        counted[2 + p] = count(generic[p]) - generic0[p];
    }
    /* A move takes some hundred instructions of its own. */
    double on_core = 2.0 * LOOPS * MOVES / 2, on_atom = 2 * on_core, moves = 1000;
    expect("cpu_core, raw", counted[0], on_core, on_core + moves);
    expect("cpu_atom, raw", counted[1], on_atom, on_atom + moves);
    expect("cpu_core, generic", counted[2], on_core, on_core + moves);
    expect("cpu_atom, generic", counted[3], on_atom, on_atom + moves);
    return finish();
}
