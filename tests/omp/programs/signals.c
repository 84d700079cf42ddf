/* A timer interrupts regions; what its handler saw is checked, its mask too. A signal that the program blocks stays
 * pending, also one of those that faults send. */
#include "verify.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t rang;
static void ring(int number) { rang += number == SIGALRM; }

int main(void) {
    sigset_t trap, pending;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    sigprocmask(SIG_BLOCK, &trap, NULL);
    raise(SIGTRAP);
    struct sigaction action = {.sa_handler = ring};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    long sum = 0, steps = 0;
    while (rang < 10) {
        long part = 0;
#pragma omp parallel for reduction(+ : part)
        for (int i = 0; i < 300; i++) part += i;
        VERIFY(part == 44850);
        sum = part;
        steps++;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigpending(&pending);
    VERIFY(sigismember(&pending, SIGTRAP) == 1);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGTRAP, &ignore, NULL);
    sigprocmask(SIG_UNBLOCK, &trap, NULL);
    sigset_t mask;
    int blocked = 0;
#pragma omp parallel private(mask) reduction(+ : blocked)
    {
        pthread_sigmask(SIG_BLOCK, NULL, &mask);
        for (int number = 1; number < 32; number++)
            blocked += number != SIGTRAP && sigismember(&mask, number) == 1;
    }
    VERIFY(steps > 0 && blocked == 0);
    printf("%ld\n", sum);
}
