// A tool of the user, which calls functions of its own that other tools have as well.
#include <stdint.h>
#include <stdio.h>

static int calls;

void kokkosp_end_parallel_for(uint64_t number) { calls += number == 7; }

void kokkosp_begin_parallel_reduce(const char *name, uint32_t device, uint64_t *number) {
    (void)name;
    (void)device;
    *number = 7;
}

void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *number) {
    kokkosp_begin_parallel_reduce(name, device, number);
}

void kokkosp_finalize_library(void) {
    kokkosp_end_parallel_for(0);
    printf("the tool saw %d kernels\n", calls);
}
