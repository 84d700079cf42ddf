/* Starts programs by system() and popen() between regions, one of them itself. */
#include "sums.h"
#include "verify.h"
#include <string.h>

int main(int count, char **arguments) {
    if (count > 1) {
        printf("inner %ld\n", work(10));
        return 0;
    }
    char command[4096], line[100] = "";
    printf("before %ld\n", work(20));
    fflush(stdout);
    VERIFY(system("echo from a shell; exit 3") == 3 << 8);
    snprintf(command, sizeof command, "'%s' inner", arguments[0]);
    FILE *pipe = popen(command, "r");
    VERIFY(pipe && fgets(line, sizeof line, pipe) && pclose(pipe) == 0);
    printf("%safter %ld\n", line, work(20));
}
