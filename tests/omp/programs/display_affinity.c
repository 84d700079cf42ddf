/* Has the runtime tell on standard error of each team that differs from the one before. */
#include "sums.h"
#include "verify.h"

int main(void) {
    printf("%ld\n", work(240));
}
