/* May have no more than ten open files, and opens all of them while regions run. */
#include "sums.h"
#include "verify.h"
#include <sys/resource.h>

int main(void) {
    struct rlimit ten = {10, 10};
    VERIFY(setrlimit(RLIMIT_NOFILE, &ten) == 0);
    printf("%ld\n", work(40));
    FILE *null = fopen("/dev/null", "w");
    VERIFY(null);
    fprintf(null, "%ld\n", work(10));
    VERIFY(fclose(null) == 0);
}
