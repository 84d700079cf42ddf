/* Regions in handlers that run at exit. */
#include "sums.h"
#include "verify.h"

static void first(void) { printf("first %ld\n", work(10)); }
static void second(void) { printf("second %ld\n", work(20)); }

int main(void) {
    atexit(first);
    printf("main %ld\n", work(20));
    atexit(second);
    return 2;
}
