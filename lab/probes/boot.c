/*
 * One line for each thing that Linux's driver found, and a known loop counted by the driver and by
 * the emulator itself. Every model's boot test runs this.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "probe.h"
#include <dirent.h>

/* General counters: events that count at once, each in a counter of its own. */
static int general_counters(uint32_t type, uint64_t config)
{
    int fds[32], n = 0, leader = -1;
    for (; n < 32; n++) {
        struct perf_event_attr attr = { .type = type, .config = config, .exclude_kernel = 1 };
        fds[n] = perf_open(&attr, 0, -1, leader);
        if (fds[n] < 0) {
            break;
        }
        leader = fds[0];
    }
    for (int i = 0; i < n; i++) {
        close(fds[i]);
    }
    return n;
}

static uint64_t count(int fd)
{
    uint64_t value = 0;
    if (read(fd, &value, sizeof(value)) != sizeof(value)) {
        perror("read");
    }
    return value;
}

static uint64_t truth(void)
{
    uint64_t kernel = 0;
    return doorbell(2, &kernel, 0, 0);
}

/* A loop whose count Linux and the emulator must both know. */
static void known_loop(const char *pmu, int cpu, uint32_t type)
{
    const uint64_t loops = 1000000;
    uint64_t config = type == PERF_TYPE_HARDWARE ? PERF_COUNT_HW_INSTRUCTIONS : 0xc0;
    struct perf_event_attr attr = { .type = type, .config = config, .exclude_kernel = 1 };
    run_on(cpu);
    int fd = perf_open(&attr, 0, -1, -1);
    if (fd < 0) {
        perror("instructions");
        failures++;
        return;
    }
    count(fd);
    uint64_t own0 = count(fd), truth0 = truth();
    spin(loops);
    uint64_t truth1 = truth(), own1 = count(fd);
    printf("%s: cpu %d, loop of 2000000, driver %llu, emulator %llu\n", pmu, cpu,
           (unsigned long long)(own1 - own0), (unsigned long long)(truth1 - truth0));
    close(fd);
}

static void describe(const char *pmu)
{
    char path[128], text[64] = "-";
    snprintf(path, sizeof(path), "/sys/devices/%s/type", pmu);
    int type = number_in(path);
    if (type < 0) {
        return;
    }
    snprintf(path, sizeof(path), "/sys/devices/%s/caps/pmu_name", pmu);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%63s", text) == 1) {
        fclose(file);
    }
    snprintf(path, sizeof(path), "/sys/devices/%s/cpus", pmu);
    int cpu = number_in(path);
    cpu = cpu < 0 ? 0 : cpu;
    run_on(cpu);
    printf("%s: name %s, general %d\n", pmu, text, general_counters(type, 0x01c4));
    known_loop(pmu, cpu, strcmp(pmu, "cpu") ? type : PERF_TYPE_HARDWARE);
}

int main(void)
{
    describe("cpu");
    describe("cpu_core");
    describe("cpu_atom");
    return finish();
}
