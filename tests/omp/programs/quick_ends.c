/* Children that end by _exit, quick_exit, abort and a signal while regions have run in them. */
#include "sums.h"
#include "verify.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (int way = 0; way < 4; way++) {
        pid_t child = fork();
        if (child == 0) {
            if (work(10) != 448500) _exit(99);
            if (way == 0) _exit(11);
            if (way == 1) quick_exit(12);
            if (way == 2) abort();
            raise(SIGTERM);
        }
        int status = 0;
        VERIFY(waitpid(child, &status, 0) == child);
        printf("%d: exit %d signal %d\n", way, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    }
}
