/* Without OpenMP itself: loads an object whose constructor and destructor run regions. The loader holds its lock
 * meanwhile, and so a thread of a team that calls the loader would wait for ever. */
#include "loaded.h"

int main(int count, char **arguments) {
    (void)count;
    /* Stays, because with it the runtime would go, of which threads are left. */
    loaded(arguments[0], "part_one.so");
    for (int time = 0; time < 2; time++) {
        void *object = loaded(arguments[0], "part_constructor.so");
        long *sum = dlsym(object, "sum");
        VERIFY(*sum == 30 * 300);
        VERIFY(dlclose(object) == 0);
    }
    printf("done\n");
}
