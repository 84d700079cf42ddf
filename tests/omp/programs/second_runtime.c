/* Without OpenMP itself: loads an object with OpenMP, and while that is at work another runtime, for
 * all to see. The object stays with its own. */
#include "loaded.h"

int main(int count, char **arguments) {
    (void)count;
    void *object = loaded(arguments[0], "part_numbers.so");
    long (*work)(int) = (long (*)(int))dlsym(object, "work");
    long before = 0, after = 0;
    for (int step = 0; step < 100; step++) before += work(0);
    const char *other = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD) ? "libomp.so.5" : "libgomp.so.1";
    if (!dlopen(other, RTLD_NOW | RTLD_GLOBAL)) {
        printf("skipped: no %s\n", other);
        return 0;
    }
    for (int step = 0; step < 100; step++) after += work(0);
    VERIFY(before == after);
    for (int step = 0; step < 100; step++) after -= work(1);
    VERIFY(after == 0);
    printf("%ld\n", before);
}
