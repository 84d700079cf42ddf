/* Closes every descriptor above 2, as daemons do, and then uses those numbers itself. */
#define _GNU_SOURCE
#include "sums.h"
#include "verify.h"
#include <string.h>
#include <unistd.h>

int main(void) {
    long before = work(20);
    for (int number = 3; number < 1024; number++) close(number);
    FILE *files[8];
    for (int i = 0; i < 8; i++) VERIFY((files[i] = tmpfile()));
    long after = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 8; i++) VERIFY(fprintf(files[i], "%d %d\n", i, round) > 0);
        after += work(2);
    }
    for (int i = 0; i < 8; i++) {
        rewind(files[i]);
        for (int round = 0; round < 20; round++) {
            int one, two;
            VERIFY(fscanf(files[i], "%d %d", &one, &two) == 2 && one == i && two == round);
        }
        VERIFY(fclose(files[i]) == 0);
    }
    printf("%ld %ld\n", before, after);
}
