/*
 * A fault of Linux's NetBurst driver. p4_pmu_set_period writes a counter twice, for an erratum, and
 * the second write has the period that the CPU's counter had the last time. Two sampling events,
 * one after the other, show it: the first one counts with the period of the event before it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "probe.h"

#define LOOPS 1000000

/* Counts and samples of a loop of 2,000,000 instructions. */
static void sampled(uint64_t period, uint64_t *counted, uint64_t *taken)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = period,
        .sample_type = PERF_SAMPLE_IP, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
    };
    int fd = perf_open(&attr, 0, -1, -1);
    if (fd < 0) {
        perror("perf_event_open");
        exit(1);
    }
    struct perf_event_mmap_page *page = mmap(0, 17 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    spin(LOOPS);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (read(fd, counted, sizeof(*counted)) != sizeof(*counted)) {
        perror("read");
    }
    *taken = page->data_head / 16;
    munmap(page, 17 * 4096);
    close(fd);
}

int main(void)
{
    uint64_t counted[4], taken[4];
    const uint64_t periods[] = { 100000, 100000, 50000, 50000 };
    run_on(0);
    for (int i = 0; i < 4; i++) {
        sampled(periods[i], &counted[i], &taken[i]);
    }
    int wrong = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t due = 2 * LOOPS / periods[i];
        int is_wrong = counted[i] > 2 * LOOPS + 1000 || taken[i] != due;
        wrong += is_wrong;
        printf("period %6llu: counted %llu of 2000000, %llu samples of %llu%s\n",
               (unsigned long long)periods[i], (unsigned long long)counted[i],
               (unsigned long long)taken[i], (unsigned long long)due, is_wrong ? ": wrong" : "");
    }
    puts(wrong ? "FAULT SEEN" : "no fault");
    return 0;
}
