// Opens a library that needs MPI, as Python opens its modules: MPI is in no scope but the library's.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words) {
  void *module = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!module)
    return printf("%s\n", dlerror()), 1;
  void (*plugin)(void) = (void (*)(void))dlsym(module, "plugin");
  plugin();
  return 0;
}
