/* Without OpenMP itself: loads an object whose constructor waits for a thread with regions. The loader holds its lock
 * meanwhile, and so the thread must not need the loader. */
#include "loaded.h"

int main(int count, char **arguments) {
    (void)count;
    long *sum = dlsym(loaded(arguments[0], "part_thread.so"), "sum");
    VERIFY(*sum == 30 * 200);
    printf("done\n");
}
