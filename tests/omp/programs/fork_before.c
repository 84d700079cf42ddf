/* Forks before the first region; then parent and child both run regions. */
#include "sums.h"
#include "verify.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    pid_t child = fork();
    VERIFY(child >= 0);
    if (child == 0) {
        printf("child %ld\n", work(30));
        exit(7);
    }
    int status = 0;
    VERIFY(waitpid(child, &status, 0) == child && WIFEXITED(status));
    printf("parent %ld, child ended with %d\n", work(50), WEXITSTATUS(status));
}
