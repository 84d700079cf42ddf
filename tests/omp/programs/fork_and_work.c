/* Forks between regions, and the children run regions, too: LLVM's runtime can. */
#include "sums.h"
#include "verify.h"
#include <sys/wait.h>
#include <unistd.h>

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
