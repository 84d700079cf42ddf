/* A signal handler ends the program by _exit, as it may, while memory is allocated in regions. */
#include "verify.h"
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave(int number) { _exit(number == SIGALRM ? 21 : 22); }

static void busy(void) {
    signal(SIGALRM, leave);
    struct itimerval soon = {{0, 0}, {0, 3000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    for (;;) {
#pragma omp parallel
        for (int i = 0; i < 50; i++) {
            void *volatile one = malloc(100 + i * 1000), *volatile two = malloc(3000);
            free(one);
            free(two);
        }
    }
}

int main(void) {
    int well = 0;
    for (int time = 0; time < 12; time++) {
        pid_t child = fork();
        VERIFY(child >= 0);
        if (child == 0) busy();
        int status = 0;
        VERIFY(waitpid(child, &status, 0) == child);
        well += WIFEXITED(status) && WEXITSTATUS(status) == 21;
    }
    printf("%d ended well\n", well);
    return well != 12;
}
