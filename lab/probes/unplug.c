/*
 * A CPU goes offline and comes back, twice, while an event counts on its sibling; then an event
 * counts on the CPU itself.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "probe.h"

#define LOOPS 1000000

static void set_online(int online)
{
    FILE *file = fopen("/sys/devices/system/cpu/cpu1/online", "w");
    if (!file || fprintf(file, "%d", online) < 0 || fclose(file)) {
        perror("cpu1/online");
        exit(1);
    }
    expect("online", number_in("/sys/devices/system/cpu/cpu1/online"), online, online);
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

static double counted_on(int cpu)
{
    run_on(cpu);
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
    };
    int fd = perf_open(&attr, 0, -1, -1);
    if (fd < 0) {
        perror("perf_event_open");
        exit(1);
    }
    uint64_t before = count(fd);
    spin(LOOPS);
    double counted = count(fd) - before;
    close(fd);
    return counted;
}

int main(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
    };
    run_on(0);
    int fd = perf_open(&attr, 0, -1, -1);
    if (fd < 0) {
        perror("perf_event_open");
        return 1;
    }
    for (int round = 0; round < 2; round++) {
        uint64_t before = count(fd);
        spin(LOOPS);
        double counted = count(fd) - before;
        expect("before", counted, 2 * LOOPS, 2 * LOOPS + 200);
        set_online(0);
        before = count(fd);
        spin(LOOPS);
        counted = count(fd) - before;
        expect("without the sibling", counted, 2 * LOOPS, 2 * LOOPS + 200);
        set_online(1);
        expect("on the CPU that came back", counted_on(1), 2 * LOOPS, 2 * LOOPS + 200);
        run_on(0);
    }
    return finish();
}
