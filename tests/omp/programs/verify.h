/* For programs that check themselves: what is not so is said, with its line, and ends them. */
#ifndef VERIFY_H
#define VERIFY_H

#include <stdio.h>
#include <stdlib.h>

#define VERIFY(fact)                                                    \
    do {                                                                \
        if (!(fact)) {                                                  \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #fact);   \
            exit(1);                                                    \
        }                                                               \
    } while (0)

#endif
