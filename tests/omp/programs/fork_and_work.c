/* Forks between regions, and the children run regions, too: LLVM's runtime can. */
#include "verify.h"
#include <sys/wait.h>
#include <unistd.h>

static long work(int steps) {
    long sum = 0;
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < 300; i++) sum += i;
    }
    return sum;
}

int main(void) {
    long sum = work(10);
    for (int round = 0; round < 2; round++) {
        fflush(stdout);
        pid_t child = fork();
        VERIFY(child >= 0);
        if (child == 0) {
            printf("child %ld\n", work(20));
            exit(round);
        }
        int status = 0;
        VERIFY(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == round);
        sum += work(10);
    }
    printf("parent %ld\n", sum);
}
