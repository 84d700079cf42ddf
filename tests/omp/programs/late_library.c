/* Without OpenMP itself: loads an object with OpenMP, and loads and unloads another one twice. */
#include "loaded.h"

static long ran(void *object) {
    long (*work)(int) = (long (*)(int))dlsym(object, "work");
    long sum = 0;
    for (int step = 0; step < 25; step++) sum += work(step);
    return sum;
}

int main(int count, char **arguments) {
    (void)count;
    /* Stays, because with it the runtime would go, of which threads are left. */
    void *one = loaded(arguments[0], "part_one.so");
    long total = ran(one);
    for (int time = 0; time < 2; time++) {
        void *two = loaded(arguments[0], "part_two.so");
        total += ran(two);
        VERIFY(dlclose(two) == 0);
        total += ran(one);
    }
    printf("%ld\n", total);
}
