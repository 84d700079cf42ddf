/*
 * Overflow interrupts. A sampling event takes one sample a period; with the argument `narrow`, a
 * counting event passes twice what its counter holds, which the kernel extends.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "probe.h"

#define PERIOD 100000
#define PAGES 64

static volatile char *ring;

static int open_sampler(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = PERIOD,
        .sample_type = PERF_SAMPLE_IP, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
    };
    int fd = perf_open(&attr, 0, -1, -1);
    if (fd < 0) {
        perror("sampling event");
        exit(1);
    }
    ring = mmap(0, (PAGES + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ring == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return fd;
}

extern const char loop_start[], loop_end[];

/* Not inlined: the assembler accepts its labels once only. */
__attribute__((noinline)) static void known_loop(uint64_t n)
{
    __asm__ volatile("loop_start: dec %0\n jnz loop_start\nloop_end:" : "+r"(n));
}

static void samples(void)
{
    int fd = open_sampler();
    const uint64_t loops = 50 * PERIOD;
    uint64_t counted = 0, taken = 0, inside = 0, lost = 0;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    known_loop(loops);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (read(fd, &counted, 8) != 8) {
        perror("read");
    }
    struct perf_event_mmap_page *page = (void *)ring;
    for (uint64_t at = page->data_tail; at < page->data_head; ) {
        struct perf_event_header *h = (void *)(ring + 4096 + at % (PAGES * 4096));
        if (h->type == PERF_RECORD_SAMPLE) {
            uint64_t ip = *(uint64_t *)(h + 1);
            taken++;
            inside += ip >= (uintptr_t)loop_start && ip <= (uintptr_t)loop_end;
        } else {
            lost++;
        }
        at += h->size;
    }
    expect("instructions", counted, 2 * loops, 2 * loops + 1000);
    expect("samples", taken, counted / PERIOD, counted / PERIOD);
    expect("samples in the loop", inside, taken - 1, taken);
    expect("other records", lost, 0, 0);
}

static void narrow(void)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = 0x01d1, .exclude_kernel = 1 };
    int fd = perf_open(&attr, 0, -1, -1);
    if (fd < 0) {
        perror("counting event");
        exit(1);
    }
    struct perf_event_mmap_page *page = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    printf("%d bits\n", page->pmc_width);
    const int times = 10;
    const uint64_t n = 1ULL << (page->pmc_width - 2);
    for (int i = 0; i < times; i++) {
        uint64_t b = n;
        doorbell(1, &b, attr.config, 0);
        /* The interrupt comes with the next instructions. */
        spin(100);
    }
    uint64_t counted = 0;
    if (read(fd, &counted, 8) != 8) {
        perror("read");
    }
    expect("events", counted, times * (double)n, times * (double)n);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "narrow")) {
        narrow();
    } else {
        run_on(0);
        samples();
    }
    return finish();
}
