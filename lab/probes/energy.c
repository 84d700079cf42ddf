/*
 * RAPL: the package's energy by Linux's PMU `power`, at two powers that the doorbell sets.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "probe.h"
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(void)
{
    int type = number_in("/sys/bus/event_source/devices/power/type"), event = 0;
    FILE *file = fopen("/sys/bus/event_source/devices/power/events/energy-pkg", "r");
    if (type < 0 || !file || fscanf(file, "event=%x", &event) != 1) {
        puts("BAD no power/energy-pkg");
        return 1;
    }
    double joules = 0;
    file = fopen("/sys/bus/event_source/devices/power/events/energy-pkg.scale", "r");
    if (!file || fscanf(file, "%lf", &joules) != 1) {
        puts("BAD no scale");
        return 1;
    }
    struct perf_event_attr attr = { .type = type, .config = event };
    int fd = perf_open(&attr, -1, 0, -1);
    if (fd < 0) {
        perror("power/energy-pkg");
        return 1;
    }
    for (int watts = 7; watts <= 50; watts += 43) {
        uint64_t milliwatts = watts * 1000, before, after;
        if (doorbell(7, &milliwatts, 0, 0)) {
            puts("BAD the doorbell has no energy here");
            return 1;
        }
        double from = now();
        if (read(fd, &before, 8) != 8) {
            return 1;
        }
        spin(20000000);
        if (read(fd, &after, 8) != 8) {
            return 1;
        }
        double seconds = now() - from;
        printf("%.3f s\n", seconds);
        expect("watts", (after - before) * joules / seconds, watts * 0.98, watts * 1.02);
    }
    return finish();
}
