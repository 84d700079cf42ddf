/* The instructions of a begin and an end, as the lab's emulator counts them. */
#include "check.h"

#define CALLS 1000
#define RUNS 20

/* User instructions that this hardware context has retired: the lab's doorbell. */
static uint64_t retired(void)
{
    uint64_t user = 0x4c504d02, kernel, selector = 0, threads;

    __asm__ volatile("cpuid" : "+a"(user), "=b"(kernel), "+c"(selector), "=d"(threads));
    return user;
}

int main(void)
{
    pacman_session *session = check_open("instructions", "INSTRUCTIONS,CYCLES,REF_CYCLES,BRANCHES");
    uint64_t least[2] = { UINT64_MAX, UINT64_MAX };
    pacman_phase phase;
    int run, full, i;
    long failures = 0;

    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    /* The least of many: the timer interrupts some. The empty loop is taken off. */
    for (run = 0; run < RUNS; run++) {
        for (full = 0; full < 2; full++) {
            uint64_t begin = retired(), each;

            for (i = 0; i < CALLS; i++) {
                __asm__ volatile("" : : "r"(i));
                if (full) {
                    failures += pacman_begin(session, phase) < 0;
                    failures += pacman_end(session, phase) < 0;
                }
            }
            each = retired() - begin;
            if (each < least[full])
                least[full] = each;
        }
    }
    CHECK(failures == 0);
    printf("pacman_begin + pacman_end    %8.1f instructions\n",
           (double)(least[1] - least[0]) / CALLS);
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
