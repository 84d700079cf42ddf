/* A program that closes descriptors which it did not open, as daemons do, and then opens files of
 * its own under their numbers. */
#include "check.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define OWN 256

static pacman_session *session;
static pacman_phase phase;
static int limit;

/* Whether every number that anybody could have is open on the program's file, at its start. */
static void own_files_are_whole(void)
{
    int fd;

    for (fd = 3; fd < limit; fd++) {
        CHECK(lseek(fd, 0, SEEK_CUR) == 0);
        CHECK(fcntl(fd, F_GETFD) >= 0);
    }
}

static void take_all_numbers(void)
{
    int fd, own;

    for (fd = 3; fd < limit; fd++)
        close(fd);
    own = open("/proc/self/maps", O_RDONLY);
    CHECK(own == 3);
    /* Each open for itself, with its own position. */
    for (fd = 4; fd < limit; fd++)
        CHECK(open("/etc/passwd", O_RDONLY) == fd);
}

static int child(void)
{
    /* The child's handlers have run. */
    own_files_are_whole();
    return check_end();
}

int main(void)
{
    struct rlimit files;
    uint64_t counts[2];
    int status = -1;
    pid_t pid;

    check_begin();
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = OWN;
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    limit = OWN;
    session = check_open("closing", "task-clock,page-faults");
    ANSWERS(PACMAN_OK, pacman_phase_define(session, "p", &phase));
    ANSWERS(PACMAN_OK, pacman_attach(session));
    ANSWERS(PACMAN_OK, pacman_begin(session, phase));
    ANSWERS(PACMAN_OK, pacman_end(session, phase));
    take_all_numbers();
    REFUSES_LIKE(PACMAN_E_SYSTEM, "closed by the program", pacman_read(session, counts, 2));
    REFUSES_LIKE(PACMAN_E_SYSTEM, "closed by the program", pacman_begin(session, phase));
    own_files_are_whole();
    pid = fork();
    if (pid == 0)
        _exit(child());
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ANSWERS(PACMAN_OK, pacman_detach(session));
    own_files_are_whole();
    /* With room for them, the thread counts again. */
    close(limit - 1);
    close(limit - 2);
    close(limit - 3);
    close(limit - 4);
    ANSWERS(PACMAN_OK, pacman_attach(session));
    ANSWERS(PACMAN_OK, pacman_begin(session, phase));
    ANSWERS(PACMAN_OK, pacman_end(session, phase));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
