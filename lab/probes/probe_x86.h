/*
 * The doorbell, counters and known work on x86.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define DOORBELL 0x4c504d00

/* The doorbell takes and returns 64 bits in each register. */
static inline uint64_t doorbell(uint64_t op, uint64_t *b, uint64_t c, uint64_t d)
{
    uint64_t a = DOORBELL + op;
    __asm__ volatile("cpuid" : "+a"(a), "+b"(*b), "+c"(c), "+d"(d) : : "memory");
    return a;
}

static inline uint64_t rdpmc(uint32_t index)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}

/* Exactly 2 n + 1 instructions. */
static inline void spin(uint64_t n)
{
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(n));
}
