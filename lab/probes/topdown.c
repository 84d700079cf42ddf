/*
 * Intel top-down: a group led by `slots`, with a topdown-* event for each field, on two phases with
 * different fractions. Counts come from read(2) and from RDPMC.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "probe.h"

#define LEVEL1 4
#define ALL 8

static const char *const names[ALL] = {
    "retiring", "bad-spec", "fe-bound", "be-bound", "heavy-ops", "br-mispredict", "fetch-lat", "mem-bound",
};

/* Fractions in 1/10,000, the unit of the doorbell. */
static const unsigned phases[][ALL] = {
    { 5000, 1000, 1500, 2500, 800, 400, 1000, 2000 },
    { 1234, 766, 3000, 5000, 100, 700, 2500, 4900 },
};

static void set(const unsigned fraction[ALL])
{
    uint64_t level1 = 0, level2 = 0;
    for (int f = 0; f < LEVEL1; f++) {
        level1 |= (uint64_t)fraction[f] << 16 * f;
        level2 |= (uint64_t)fraction[LEVEL1 + f] << 16 * f;
    }
    if (doorbell(6, &level1, level2, 0)) {
        puts("BAD the doorbell has no top-down here");
        exit(1);
    }
}

int main(void)
{
    int fields = access("/sys/bus/event_source/devices/cpu/events/topdown-heavy-ops", F_OK) ? LEVEL1 : ALL;
    int type = number_in("/sys/bus/event_source/devices/cpu/type");
    if (type < 0) {
        fields = ALL;
        type = number_in("/sys/bus/event_source/devices/cpu_core/type");
    }
    /* The doorbell sets the fractions of one context. Context 0 is a performance core on a hybrid. */
    run_on(0);
    struct perf_event_attr attr = {
        .type = type, .config = 0x400, .disabled = 1, .exclude_kernel = 1,
        .read_format = PERF_FORMAT_GROUP,
    };
    int leader = perf_open(&attr, 0, -1, -1);
    if (leader < 0) {
        perror("slots");
        return 1;
    }
    attr.disabled = 0;
    for (int f = 0; f < fields; f++) {
        attr.config = 0x8000 + (f << 8);
        if (perf_open(&attr, 0, -1, leader) < 0) {
            perror(names[f]);
            return 1;
        }
    }
    struct perf_event_mmap_page *page = mmap(0, 4096, PROT_READ, MAP_SHARED, leader, 0);
    uint64_t before[ALL + 2] = { 0 }, after[ALL + 2];
    ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    for (int p = 0; p < 2; p++) {
        set(phases[p]);
        if (read(leader, before, sizeof(before)) < 0) {
            perror("read");
            return 1;
        }
        spin(5000000);
        if (read(leader, after, sizeof(after)) < 0) {
            perror("read");
            return 1;
        }
        uint64_t slots = after[1] - before[1];
        printf("phase %d: %llu slots\n", p, (unsigned long long)slots);
        for (int f = 0; f < fields; f++) {
            double percent = 100.0 * (double)(int64_t)(after[2 + f] - before[2 + f]) / slots;
            expect(names[f], percent, phases[p][f] / 100.0 - 0.5, phases[p][f] / 100.0 + 0.5);
        }
        /* The registers themselves: fractions of fixed counter 3 since Linux reset both. */
        if (page != MAP_FAILED && page->cap_user_rdpmc) {
            uint64_t slots0 = rdpmc(0x40000003), metrics0 = rdpmc(0x20000000);
            spin(5000000);
            uint64_t slots1 = rdpmc(0x40000003), metrics1 = rdpmc(0x20000000);
            for (int f = 0; f < fields; f++) {
                double used = (double)slots1 * (metrics1 >> 8 * f & 255) / 255 -
                              (double)slots0 * (metrics0 >> 8 * f & 255) / 255;
                expect(names[f], 100 * used / (slots1 - slots0), phases[p][f] / 100.0 - 0.5,
                       phases[p][f] / 100.0 + 0.5);
            }
        } else {
            expect("RDPMC is allowed", 0, 1, 1);
        }
    }
    return finish();
}
