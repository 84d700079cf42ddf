/* Forks inside a region of one thread; parent and child leave it, and run regions of more. */
#include "sums.h"
#include "verify.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    pid_t child = -1;
#pragma omp parallel num_threads(1) shared(child)
    child = fork();
    VERIFY(child >= 0);
    if (child == 0) {
        printf("child %ld\n", work(20));
        exit(7);
    }
    int status = 0;
    VERIFY(waitpid(child, &status, 0) == child && WIFEXITED(status));
    printf("parent %ld, child ended with %d\n", work(20), WEXITSTATUS(status));
}
