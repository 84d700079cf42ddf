/* Forks between regions; the children run none, and end in both ways. */
#include "sums.h"
#include "verify.h"
#include <sys/wait.h>
#include <unistd.h>

static int ended(pid_t child) {
    int status = 0;
    VERIFY(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

int main(void) {
    long sum = 0;
    for (int round = 0; round < 4; round++) {
        sum += work(10);
        fflush(stdout);
        pid_t child = fork();
        VERIFY(child >= 0);
        if (child == 0) {
            if (round % 2) _exit(round);
            printf("child of round %d\n", round);
            exit(round);
        }
        VERIFY(ended(child) == round);
    }
    printf("%ld\n", sum + work(10));
}
