// Does with a tool what Kokkos does, around kernels that OpenMP runs, so that no Kokkos is needed.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void begin_function(const char *, uint32_t, uint64_t *);
typedef void end_function(uint64_t);
struct settings {
    _Bool fences;
    _Bool padding[255];
};

static void *tool;
static begin_function *begin;
static end_function *end;
static double cells[1 << 12];

static void load(void) {
    const char *path = getenv("KOKKOS_TOOLS_LIBS");
    tool = path && *path ? dlopen(path, RTLD_NOW) : NULL;
    if (!tool) {
        puts("no tool");
        return;
    }
    void (*init)(int, uint64_t, uint32_t, void *) = dlsym(tool, "kokkosp_init_library");
    if (init) init(0, 20240906, 0, NULL);
    struct settings settings = {1, {0}};
    void (*request)(uint32_t, struct settings *) = dlsym(tool, "kokkosp_request_tool_settings");
    if (request) request(1, &settings);
    printf("fences: %d\n", settings.fences);
    begin = dlsym(tool, "kokkosp_begin_parallel_for");
    end = dlsym(tool, "kokkosp_end_parallel_for");
}

static void kernel(const char *label, int nested) {
    uint64_t number = 0;
    if (begin) begin(label, 0, &number);
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 1 << 12; i++) cells[i] += i;
    if (nested) {
#pragma omp parallel num_threads(2)
        {
#pragma omp parallel num_threads(1)
            cells[0] += 0;
        }
    }
    if (end) end(number);
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *older = getenv("KOKKOS_PROFILE_LIBRARY");
    if (older) printf("older: %s\n", older);
    load();
    for (int step = 0; step < 3; step++) kernel("first", 0);
    for (int step = 0; step < 4; step++) kernel("second", 0);
    kernel("outer", 1);
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 1 << 12; i++) cells[i] += 1;
    printf("%g\n", cells[2]);
    if (tool) {
        void (*finalize)(void) = dlsym(tool, "kokkosp_finalize_library");
        if (finalize) finalize();
    }
    return argc > 5;
}
