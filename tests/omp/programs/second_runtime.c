/* Without OpenMP itself: loads an object with OpenMP, and while that is at work another runtime, for
 * all to see. The object stays with its own. */
#include "verify.h"
#include <dlfcn.h>
#include <string.h>

int main(int count, char **arguments) {
    (void)count;
    char path[4096];
    snprintf(path, sizeof path, "%.4000s", arguments[0]);
    strcpy(strrchr(path, '/') + 1, "part_numbers.so");
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) printf("%s\n", dlerror());
    VERIFY(object);
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
