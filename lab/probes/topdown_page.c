/*
 * The counter page of `slots` in a group with topdown events, before and after the thread slept. The
 * page's protocol says: offset plus counter is the count.
 *
 * Exit status 1 and FAULT SEEN if the sum is not the count of read(2).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "probe.h"

static uint64_t by_page(volatile struct perf_event_mmap_page *page)
{
    uint32_t lock;
    uint64_t count;
    do {
        lock = page->lock;
        __asm__ volatile("" ::: "memory");
        count = page->offset;
        if (page->index) {
            count += rdpmc(page->index - 1);
        }
        __asm__ volatile("" ::: "memory");
    } while (page->lock != lock);
    return count;
}

int main(void)
{
    struct perf_event_attr attr = {
        .type = number_in("/sys/bus/event_source/devices/cpu/type"), .config = 0x400, .disabled = 1,
        .exclude_kernel = 1, .read_format = PERF_FORMAT_GROUP,
    };
    run_on(0);
    int leader = perf_open(&attr, 0, -1, -1);
    attr.disabled = 0;
    attr.config = 0x8000;
    int retiring = perf_open(&attr, 0, -1, leader);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, leader, 0);
    if (leader < 0 || retiring < 0 || page == MAP_FAILED) {
        perror("slots");
        return 2;
    }
    ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    int wrong = 0;
    for (int sleeps = 0; sleeps < 2; sleeps++) {
        spin(1000000);
        if (sleeps) {
            usleep(20000);
        }
        uint64_t paged = by_page(page), words[3];
        if (read(leader, words, sizeof words) != sizeof words) {
            perror("read");
            return 2;
        }
        /* A few hundred instructions. */
        int differs = paged > words[1] + 50000 || words[1] > paged + 50000;
        printf("%s: page %llu, read %llu: %s\n", sleeps ? "after a sleep" : "at once", (unsigned long long)paged,
               (unsigned long long)words[1], differs ? "wrong" : "equal");
        wrong |= differs;
    }
    puts(wrong ? "FAULT SEEN" : "no fault");
    return wrong;
}
