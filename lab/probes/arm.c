/*
 * The Arm lab against Linux's driver: siblings that count at once, by read(2) and by MRS, user and
 * kernel apart, overflows, rings, 64 bits, and what threads of a core share.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "probe.h"
#include <errno.h>
#include <pthread.h>

enum { INST_RETIRED = 0x08, CPU_CYCLES = 0x11, BR_RETIRED = 0x21, STALL_FRONTEND = 0x23, CPU_SLOT = 0x1e1 };
/* Bits of config1. */
enum { LONG = 1, USER_READ = 2 };

#define LOOPS 200000
#define EDGE 200

static int pmu_type(void)
{
    return number_in("/sys/bus/event_source/devices/armv8_pmuv3/type");
}

static struct perf_event_attr attributes(uint64_t event, int config1)
{
    return (struct perf_event_attr) {
        .type = pmu_type(), .config = event, .config1 = config1, .exclude_kernel = 1,
    };
}

static int opened(uint64_t event, int config1)
{
    struct perf_event_attr attr = attributes(event, config1);
    return perf_open(&attr, 0, -1, -1);
}

static uint64_t count(int fd)
{
    uint64_t value = 0;
    if (read(fd, &value, sizeof(value)) != sizeof(value)) {
        perror("read");
        failures++;
    }
    return value;
}

/* An event of this thread, its page, and a value read without a system call. */
typedef struct {
    int fd;
    volatile struct perf_event_mmap_page *page;
} Event;

static Event mapped(uint64_t event, int config1)
{
    Event it = { .fd = opened(event, config1) };
    it.page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, it.fd, 0);
    if (it.fd < 0 || it.page == MAP_FAILED) {
        perror("event with user access");
        exit(2);
    }
    return it;
}

static uint64_t user_read(Event it)
{
    uint32_t sequence, index, shift;
    uint64_t value;
    do {
        sequence = it.page->lock;
        __asm__ volatile("" : : : "memory");
        index = it.page->index;
        value = it.page->offset;
        shift = 64 - it.page->pmc_width;
        if (!it.page->cap_user_rdpmc || !index) {
            printf("BAD  no user read: index %u\n", index);
            failures++;
            return 0;
        }
        value += (int64_t)(user_counter(index) << shift) >> shift;
        __asm__ volatile("" : : : "memory");
    } while (it.page->lock != sequence);
    return value;
}

/* The counts that one of two siblings read, and the true ones. */
typedef struct {
    int cpu, config1;
    uint64_t read2, mrs, branches, truth, begin, end;
} Seen;

static pthread_barrier_t together;

static void *counts(void *argument)
{
    Seen *seen = argument;
    run_on(seen->cpu);
    int instructions = opened(INST_RETIRED, 0), branches = opened(BR_RETIRED, 0);
    Event by_user = mapped(INST_RETIRED, seen->config1);
    seen->truth = UINT64_MAX;
    /* Twice, so that no page fault is counted. */
    for (int round = 0; round < 2; round++) {
        pthread_barrier_wait(&together);
        seen->begin = READ("cntvct_el0");
        uint64_t read0 = count(instructions);
        spin(LOOPS);
        seen->read2 = count(instructions) - read0;
        uint64_t branches0 = count(branches);
        spin(LOOPS);
        seen->branches = count(branches) - branches0;
        uint64_t mrs0 = user_read(by_user), truth0 = user_instructions();
        spin(LOOPS);
        uint64_t truth = user_instructions() - truth0;
        /* Another program may have had its turn on this CPU. */
        seen->truth = truth < seen->truth ? truth : seen->truth;
        seen->mrs = user_read(by_user) - mrs0;
        seen->end = READ("cntvct_el0");
    }
    close(by_user.fd);
    close(branches);
    close(instructions);
    return NULL;
}

static void siblings(int config1)
{
    Seen seen[2] = { { .cpu = 0, .config1 = config1 }, { .cpu = 1, .config1 = config1 } };
    pthread_t threads[2];
    pthread_barrier_init(&together, NULL, 2);
    for (int t = 0; t < 2; t++) {
        pthread_create(&threads[t], NULL, counts, &seen[t]);
    }
    for (int t = 0; t < 2; t++) {
        pthread_join(threads[t], NULL);
        printf("cpu %d, config1 %d\n", seen[t].cpu, config1);
        expect("read(2)", seen[t].read2, 2 * LOOPS, 2 * LOOPS + EDGE);
        expect("mrs", seen[t].mrs, 2 * LOOPS, 2 * LOOPS + EDGE);
        expect("branches by read(2)", seen[t].branches, LOOPS, LOOPS + EDGE);
        expect("the emulator itself", seen[t].truth, 2 * LOOPS, 2 * LOOPS + 10);
    }
    uint64_t begin = seen[0].begin > seen[1].begin ? seen[0].begin : seen[1].begin;
    uint64_t end = seen[0].end < seen[1].end ? seen[0].end : seen[1].end;
    expect("ticks of both at once", (double)(int64_t)(end - begin), (seen[0].end - seen[0].begin) * 0.9, 1e18);
}

/* System calls of four user instructions each, which are counted apart from the kernel's. */
static void levels(void)
{
    const int calls = 1000;
    struct perf_event_attr kernel = attributes(INST_RETIRED, 0);
    kernel.exclude_kernel = 0;
    kernel.exclude_user = 1;
    int in_user = opened(INST_RETIRED, 0), in_kernel = perf_open(&kernel, 0, -1, -1);
    count(in_user);
    uint64_t kernel0 = count(in_kernel), user0 = count(in_user);
    __asm__ volatile("mov x9, %0; 1: mov x8, %1; svc #0; subs x9, x9, #1; b.ne 1b"
                     : : "r"((uint64_t)calls), "i"(SYS_getppid) : "x0", "x8", "x9", "cc", "memory");
    expect("user instructions of 1,000 calls", count(in_user) - user0, 4 * calls, 4 * calls + EDGE);
    expect("kernel instructions of each", (double)(count(in_kernel) - kernel0) / calls, 100, 1000);
    close(in_kernel);
    close(in_user);
}

/* Samples of a period: one each, in the loop. */
static void overflows(void)
{
    struct perf_event_attr attr = attributes(INST_RETIRED, 0);
    attr.sample_period = 50000;
    attr.disabled = 1;
    int fd = perf_open(&attr, 0, -1, -1);
    struct perf_event_mmap_page *page = mmap(NULL, 9 * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    spin(LOOPS);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    /* A record without fields is its header. */
    expect("samples of 400,000 instructions, one in 50,000", page->data_head / 8.0, 8, 8);
    munmap(page, 9 * sysconf(_SC_PAGESIZE));
    close(fd);
}

static void rings(void)
{
    int fd = opened(STALL_FRONTEND, 0), wide = opened(STALL_FRONTEND, LONG);
    uint64_t before = count(fd);
    ring(STALL_FRONTEND, 12345);
    expect("a ring", count(fd) - before, 12345, 12345);
    set_rate(STALL_FRONTEND, 250000);
    before = count(fd);
    spin(LOOPS);
    uint64_t rated = count(fd) - before;
    set_rate(STALL_FRONTEND, 0);
    expect("a rate of a quarter", rated, LOOPS / 2, LOOPS / 2 + EDGE);
    /* Past 32 bits: with PMUv3p5 in one counter, before that in two that are chained. */
    before = count(wide);
    for (int n = 0; n < 6; n++) {
        ring(STALL_FRONTEND, 0x7fffffff);
    }
    expect("6 rings of 2^31 - 1, in 64 bits", count(wide) - before, 6.0 * 0x7fffffff, 6.0 * 0x7fffffff);
    close(wide);
    close(fd);
}

static volatile int is_over, is_spinning;

static void *spins(void *argument)
{
    run_on(*(int *)argument);
    is_spinning = 1;
    while (!is_over) {
        spin(1000);
    }
    return NULL;
}

/* Linux's event `cycles`: PMCCNTR, as long as one event asks for it. */
static int opened_clock(int pid, int cpu)
{
    struct perf_event_attr clock = { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES };
    clock.exclude_kernel = pid == 0;
    return perf_open(&clock, pid, cpu, -1);
}

/* Cycles and slots of a loop: own cycles of an instruction, PMCCNTR's of an own one, slots of an own one. */
static void loop(const char *who, double cycles, double of_clock, double slots)
{
    int clock = opened_clock(0, -1), own = opened(CPU_CYCLES, 0), slot = opened(CPU_SLOT, 0);
    count(clock);
    uint64_t clock0 = count(clock), own0 = count(own), slot0 = count(slot);
    spin(5 * LOOPS);
    uint64_t all = count(clock) - clock0, mine = count(own) - own0, width = count(slot) - slot0;
    printf("%s\n", who);
    expect("CPU_CYCLES an instruction", mine / (10.0 * LOOPS), cycles * 0.95, cycles * 1.05);
    expect("PMCCNTR a cycle", (double)all / mine, of_clock * 0.95, of_clock * 1.05);
    expect("CPU_SLOT a cycle", (double)width / mine, slots * 0.95, slots * 1.05);
    close(slot);
    close(own);
    close(clock);
}

/* The share of a loop's cycles that a CPU has which runs nothing, by PMCCNTR and by the event. */
static void idle(double of_clock)
{
    struct perf_event_attr event = attributes(CPU_CYCLES, 0);
    event.exclude_kernel = 0;
    run_on(0);
    int clock = opened_clock(-1, 1), own = perf_open(&event, -1, 1, -1), here = opened(CPU_CYCLES, 0);
    uint64_t clock0 = count(clock), own0 = count(own), here0 = count(here);
    spin(20 * LOOPS);
    double busy = count(here) - here0, seems = count(clock) - clock0, is = count(own) - own0;
    printf("an idle CPU while another is busy\n");
    expect("PMCCNTR", seems / busy, of_clock * 0.9, of_clock * 1.1 + 0.1);
    expect("CPU_CYCLES", is / busy, 0, 0.1);
    close(here);
    close(own);
    close(clock);
}

/*
 * With two threads a core, PMCCNTR counts for both, and each has half of the slots. By time both run
 * at once; by instructions they take turns on the core.
 */
static void shares(int by_time)
{
    char text[16] = "";
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "r");
    int is_smt = file && fgets(text, sizeof(text), file) && strchr(text, '-');
    int other = 1;
    pthread_t busy;
    run_on(0);
    idle(is_smt);
    loop("alone", 3, 1, is_smt ? 10 : 0);
    pthread_create(&busy, NULL, spins, &other);
    while (!is_spinning) {
        sched_yield();
    }
    loop("beside a busy CPU", by_time ? 6 : 3, is_smt && !by_time ? 2 : 1, is_smt ? 5 : 0);
    is_over = 1;
    pthread_join(busy, NULL);
}

int main(int argc, char **argv)
{
    printf("pmu %d\n", pmu_type());
    siblings(USER_READ);
    int wide = opened(INST_RETIRED, LONG | USER_READ);
    printf("user reads of 64 bits: %s\n", wide < 0 ? strerror(errno) : "yes");
    if (wide >= 0) {
        close(wide);
        siblings(LONG | USER_READ);
    }
    run_on(0);
    levels();
    overflows();
    rings();
    shares(argc > 1 && !strcmp(argv[1], "by-time"));
    return finish();
}
