/* A timer's handler asks the runtime, whatever it interrupts: the library's work at a region's first execution as well. */
#include <omp.h>
#include <signal.h>
#include <sys/time.h>
#include "verify.h"

static volatile sig_atomic_t wrong;

static void ask(int signal) {
    (void)signal;
    wrong |= omp_get_thread_num() < 0;
}

static void set_timer(int microseconds) {
    struct itimerval often = { { 0, microseconds }, { 0, microseconds } };
    VERIFY(setitimer(ITIMER_REAL, &often, 0) == 0);
}

int main(void) {
    struct sigaction action = { .sa_handler = ask, .sa_flags = SA_RESTART };
    VERIFY(sigaction(SIGALRM, &action, 0) == 0);
    set_timer(200);
    long sum = 0;
    for (int step = 0; step < 300; step++) {
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 5)
        for (int i = 0; i < 100; i++) sum += i;
    }
    set_timer(0);
    VERIFY(sum == 300 * 4950 && !wrong);
    printf("done\n");
}
