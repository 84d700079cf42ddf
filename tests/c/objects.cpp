/* A session in a static object, which reports when it is destroyed. */
extern "C" {
#include "check.h"
}

namespace {

struct Counters {
    pacman_session *session;
    pacman_phase work;

    Counters() : session(check_open("objects", "task-clock")), work()
    {
        ANSWERS(PACMAN_OK, pacman_phase_define(session, "work", &work));
    }

    ~Counters()
    {
        ANSWERS(PACMAN_OK, pacman_report_write(session, PACMAN_FORMAT_JSON, STDOUT_FILENO));
        ANSWERS(PACMAN_OK, pacman_session_close(session));
        if (check_end())
            _exit(1);
    }
};

Counters counters;

} // namespace

int main()
{
    check_begin();
    ANSWERS(PACMAN_OK, pacman_attach(counters.session));
    ANSWERS(PACMAN_OK, pacman_begin(counters.session, counters.work));
    ANSWERS(PACMAN_OK, pacman_end(counters.session, counters.work));
    return check_end();
}
