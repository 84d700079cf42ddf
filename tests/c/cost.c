/* The costs of the calls, next to bare read(2) calls of an equal group in the same run.
 * Prints figures; a person reads them. */
#include "check.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>

#define CALLS 100000
#define RUNS 15

static double now(void)
{
    struct timespec time;

    /* Of this thread alone: other programs on the machine have no part in it. */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The group that the library opens for these events, opened by hand. */
static int bare_group(void)
{
    static const uint64_t events[4] = { PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
                                        PERF_COUNT_SW_CONTEXT_SWITCHES,
                                        PERF_COUNT_SW_CPU_MIGRATIONS };
    int leader = -1, i;

    for (i = 0; i < 4; i++) {
        struct perf_event_attr attributes;
        int fd;

        memset(&attributes, 0, sizeof attributes);
        attributes.size = sizeof attributes;
        attributes.type = PERF_TYPE_SOFTWARE;
        attributes.config = events[i];
        attributes.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                 PERF_FORMAT_TOTAL_TIME_RUNNING;
        fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, leader, 0);
        if (fd < 0) {
            perror("cannot open the bare group");
            exit(1);
        }
        if (leader < 0)
            leader = fd;
    }
    return leader;
}

int main(void)
{
    pacman_session *session =
        check_open("cost", "task-clock,page-faults,context-switches,cpu-migrations");
    double least[5] = { 1e18, 1e18, 1e18, 1e18, 1e18 };
    static const char *const names[5] = { "bare read(2)", "pacman_read", "pacman_begin + pacman_end",
                                          "pacman_peer_read", "pacman_attach, attached" };
    uint64_t counts[PACMAN_EVENTS_MAX];
    pacman_phase phase;
    int bare = bare_group();
    int run, what, i;

    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    /* In turns, and the least of many: the machine has other things to do. */
    for (run = 0; run < RUNS; run++) {
        for (what = 0; what < 5; what++) {
            double begin = now(), each;
            long failures = 0;

            for (i = 0; i < CALLS; i++) {
                switch (what) {
                case 0: failures += read(bare, counts, sizeof counts) != 56; break;
                case 1: failures += pacman_read(session, counts, 4) < 0; break;
                case 2:
                    failures += pacman_begin(session, phase) < 0;
                    failures += pacman_end(session, phase) < 0;
                    break;
                case 3: failures += pacman_peer_read(session, 0, counts, 4, NULL) < 0; break;
                default: failures += pacman_attach(session) != PACMAN_ALREADY; break;
                }
            }
            each = (now() - begin) / CALLS;
            CHECK(failures == 0);
            if (each < least[what])
                least[what] = each;
        }
    }
    for (what = 0; what < 5; what++)
        printf("%-28s %8.1f ns   %5.2f bare reads\n", names[what], least[what],
               least[what] / least[0]);
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
