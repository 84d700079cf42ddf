/* May have few open files, and has a right to most of them: regions run first, then it opens all that it
   can. Numbers are given from the lowest. */
#include "sums.h"
#include "verify.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMIT = 72, OWN = 64 };

int main(void) {
    struct rlimit limit = {LIMIT, LIMIT};
    int free_before[LIMIT], next, file;
    for (int number = 0; number < LIMIT; number++)
        free_before[number] = fcntl(number, F_GETFD) == -1;
    VERIFY(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    printf("%ld\n", work(20));
    for (next = 0; next < OWN; next++) {
        if (!free_before[next]) continue;
        file = open("/dev/null", O_RDONLY);
        VERIFY(file == next);
    }
    int own[LIMIT], count = 0;
    while ((file = open("/dev/null", O_RDONLY)) != -1) own[count++] = file;
    VERIFY(errno == EMFILE);
    printf("%ld\n", work(20));
    VERIFY(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == LIMIT);
    while (count > 0) VERIFY(close(own[--count]) == 0);
    for (file = 3; file < OWN; file++)
        if (free_before[file]) close(file);
}
