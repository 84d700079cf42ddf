/* Reports that cannot be written: a code and a line, and the program lives. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

static pacman_session *session;

static void *drain(void *end)
{
    char buffer[4096];
    ssize_t got;
    long total = 0;

    /* Slower than the writer, so that the pipe fills. */
    usleep(50000);
    while ((got = read(*(int *)end, buffer, sizeof buffer)) > 0)
        total += got;
    CHECK(total > 100000);
    return NULL;
}

static void nobody_reads(void)
{
    sigset_t pending;
    int ends[2];

    CHECK(pipe(ends) == 0);
    close(ends[0]);
    REFUSES_LIKE(PACMAN_E_OUTPUT, "Broken pipe", pacman_report_write(session, PACMAN_FORMAT_TABLE, ends[1]));
    /* Neither died of SIGPIPE nor keeps one for later. */
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
    close(ends[1]);
}

/* A pipe that does not block is waited for, and nothing is lost. */
static void a_slow_reader(void)
{
    pthread_t reader;
    pacman_phase phase;
    char name[256];
    int ends[2], i;

    ANSWERS(PACMAN_OK, pacman_attach(session));
    for (i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%0*d", 100 + i % 100, i);
        ANSWERS(PACMAN_OK, pacman_phase_define(session, name, &phase));
        ANSWERS(PACMAN_OK, pacman_begin(session, phase));
        ANSWERS(PACMAN_OK, pacman_end(session, phase));
    }
    CHECK(pipe(ends) == 0);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    CHECK(pthread_create(&reader, NULL, drain, &ends[0]) == 0);
    ANSWERS(PACMAN_OK, pacman_report_write(session, PACMAN_FORMAT_CSV, ends[1]));
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
}

static void files(void)
{
    char folder[] = "/tmp/pacman-output-XXXXXX", path[64], part[8] = "";
    struct stat found;
    FILE *file;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/report.csv", folder);
    REFUSES_LIKE(PACMAN_E_OUTPUT, "No such file or directory",
                 pacman_report_save(session, PACMAN_FORMAT_CSV, "/nonexistent/report.csv"));
    REFUSES(PACMAN_E_INVALID, "cannot use this as a path: it is null; pass a string",
            pacman_report_save(session, PACMAN_FORMAT_CSV, NULL));
    REFUSES_LIKE(PACMAN_E_OUTPUT, "No space left on device",
                 pacman_report_save(session, PACMAN_FORMAT_CSV, "/dev/full"));
    REFUSES_LIKE(PACMAN_E_OUTPUT, "No space left on device", pacman_report_write(session, PACMAN_FORMAT_JSON, open("/dev/full", O_WRONLY)));
    ANSWERS(PACMAN_OK, pacman_report_save(session, PACMAN_FORMAT_CSV, path));
    ANSWERS(PACMAN_OK, pacman_report_save(session, PACMAN_FORMAT_LOG_CSV, path));
    ANSWERS(PACMAN_OK, pacman_report_save(session, PACMAN_FORMAT_JSON, path));
    CHECK(stat(path, &found) == 0 && found.st_size > 0);
    file = fopen(path, "r");
    CHECK(file && fread(part, 1, 1, file) == 1 && part[0] == '{');
    if (file)
        fclose(file);
    CHECK(unlink(path) == 0);
    /* Empty again: no drafts were left beside it. */
    CHECK(rmdir(folder) == 0);
}

int main(void)
{
    check_begin();
    session = check_open("output", "task-clock");
    nobody_reads();
    a_slow_reader();
    files();
    fflush(stdout);
    close(STDOUT_FILENO);
    REFUSES_LIKE(PACMAN_E_OUTPUT, "cannot write the report of session \"output\" to descriptor 1: Bad file descriptor",
                 pacman_report_write(session, PACMAN_FORMAT_TABLE, STDOUT_FILENO));
    ANSWERS(PACMAN_OK, pacman_session_close(session));
    return check_end();
}
