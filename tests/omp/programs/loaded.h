/* Objects in the folder of the program, loaded while it runs. */
#include "verify.h"
#include <dlfcn.h>
#include <string.h>

static void *loaded(const char *program, const char *part) {
    char path[4096];
    snprintf(path, sizeof path, "%.4000s", program);
    strcpy(strrchr(path, '/') + 1, part);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) printf("%s\n", dlerror());
    VERIFY(object);
    return object;
}
