/* Loops of 3 to 20 levels whose iterations wait for earlier ones. GCC passes a word for each level, and
   those after the sixth on the stack. Loops with unsigned indices wait in another function. */
#include "verify.h"

/* Few iterations: libgomp's threads wait by spinning, which takes long on a busy machine. */
enum { STEPS = 4, INNER = 2 };
static volatile int done[STEPS + 1][INNER + 1], early, count;
/* A variable, because GCC takes small constant bounds of unsigned loops for signed ones. */
static int steps = STEPS;

#define TEXT(text) _Pragma(#text)
#define PRAGMA(...) TEXT(__VA_ARGS__)
#define ONCE(type, index) for (type index = 1; index < 2; index++)

/* The outermost and the innermost loop have several iterations, those between have one. */
#define LOOP(levels, type, between, ...)                                                        \
    static void type##_##levels(void) {                                                         \
        PRAGMA(omp parallel for ordered(levels) schedule(static, 1))                            \
        for (type i = 1; i <= (type)steps; i++)                                                 \
            between(type) for (type k = 1; k <= INNER; k++) {                                   \
                PRAGMA(omp ordered depend(sink : i - 1, __VA_ARGS__, k)                         \
                       depend(sink : i, __VA_ARGS__, k - 1))                                    \
                if (i > 1 && !done[i - 1][k] || k > 1 && !done[i][k - 1]) early = levels;       \
                done[i][k] = 1;                                                                 \
                PRAGMA(omp ordered depend(source))                                              \
            }                                                                                   \
    }
#define BOTH(levels, between, ...) \
    LOOP(levels, long, between, __VA_ARGS__) LOOP(levels, ull, between, __VA_ARGS__)

typedef unsigned long long ull;
#define L3(type) ONCE(type, a)
#define L4(type) L3(type) ONCE(type, b)
#define L5(type) L4(type) ONCE(type, c)
#define L6(type) L5(type) ONCE(type, d)
#define L7(type) L6(type) ONCE(type, e)
#define L8(type) L7(type) ONCE(type, f)
#define L9(type) L8(type) ONCE(type, g)
#define L10(type) L9(type) ONCE(type, h)
#define L11(type) L10(type) ONCE(type, m)
#define L12(type) L11(type) ONCE(type, n)
#define L13(type) L12(type) ONCE(type, o)
#define L14(type) L13(type) ONCE(type, p)
#define L15(type) L14(type) ONCE(type, q)
#define L16(type) L15(type) ONCE(type, r)
#define L17(type) L16(type) ONCE(type, s)
#define L18(type) L17(type) ONCE(type, t)
#define L19(type) L18(type) ONCE(type, u)
#define L20(type) L19(type) ONCE(type, v)

BOTH(3, L3, a)
BOTH(5, L5, a, b, c)
BOTH(6, L6, a, b, c, d)
BOTH(7, L7, a, b, c, d, e)
BOTH(8, L8, a, b, c, d, e, f)
BOTH(9, L9, a, b, c, d, e, f, g)
BOTH(10, L10, a, b, c, d, e, f, g, h)
BOTH(11, L11, a, b, c, d, e, f, g, h, m)
BOTH(13, L13, a, b, c, d, e, f, g, h, m, n, o)
BOTH(16, L16, a, b, c, d, e, f, g, h, m, n, o, p, q, r)
BOTH(20, L20, a, b, c, d, e, f, g, h, m, n, o, p, q, r, s, t, u, v)

static void check(void (*loop)(void)) {
    for (int step = 1; step <= STEPS; step++)
        for (int k = 1; k <= INNER; k++) done[step][k] = 0;
    loop();
    for (int step = 1; step <= STEPS; step++)
        for (int k = 1; k <= INNER; k++) count += done[step][k];
    VERIFY(early == 0);
}

#define CHECK(levels) check(long_##levels), check(ull_##levels)

int main(void) {
    CHECK(3); CHECK(5); CHECK(6); CHECK(7); CHECK(8); CHECK(9);
    CHECK(10); CHECK(11); CHECK(13); CHECK(16); CHECK(20);
    printf("%d\n", count);
}
