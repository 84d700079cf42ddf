/* Forks inside a region: the children end by _exit, by another program, and by exit. */
#include "verify.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    long sum = 0;
    for (int step = 0; step < 9; step++) {
        int status = 0;
#pragma omp parallel reduction(+ : sum)
        {
#pragma omp single
            {
                pid_t child = fork();
                if (child == 0) {
                    if (step % 3 == 0) _exit(step);
                    if (step % 3 == 1) execlp("sh", "sh", "-c", "exit 40", (char *)NULL);
                    exit(step);
                }
                VERIFY(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
            }
#pragma omp for
            for (int i = 0; i < 300; i++) sum += i;
        }
        VERIFY(WEXITSTATUS(status) == (step % 3 == 1 ? 40 : step));
    }
    printf("%ld\n", sum);
}
