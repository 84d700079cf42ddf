/* Regions by name: begun in several threads, left by every way out of a block. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>

static int rounds;

static int left_by_return(int value)
{
    PACMAN_REGION("outer") {
        PACMAN_REGION("returned") {
            if (value)
                return value;
        }
    }
    return 0;
}

static void *in_a_thread(void *unused)
{
    int i;

    (void)unused;
    for (i = 0; i < 10; i++)
        PACMAN_REGION("threads")
            __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    uint64_t site = 0;
    int i, ran = 0, status;

    for (i = 0; i < 7; i++)
        PACMAN_REGION("broken") {
            ran++;
            break;
        }
    CHECK(ran == 7);
    CHECK(left_by_return(5) == 5);
    for (i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, in_a_thread, NULL) == 0);
    for (i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(rounds == 20);
    ANSWERS(PACMAN_OK, pacman_region_begin("by hand", NULL));
    ANSWERS(PACMAN_OK, pacman_region_begin("with a site", &site));
    ANSWERS(PACMAN_OK, pacman_region_end("with a site", &site));
    ANSWERS(PACMAN_OK, pacman_region_end("by hand", NULL));
    if (getenv("PACMAN_REPORT")) {
        CHECK(site != 0);
        ANSWERS(PACMAN_E_INVALID, pacman_region_begin("two\nlines", NULL));
        ANSWERS(PACMAN_E_PHASE_ORDER, pacman_region_end("broken", NULL));
        if (fork() == 0) {
            PACMAN_REGION("child")
                ran++;
            exit(ran == 8 ? 0 : 1);
        }
        CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    } else {
        CHECK(site == 0);
        ANSWERS(PACMAN_OK, pacman_region_end("never begun", NULL));
    }
    return 0;
}
