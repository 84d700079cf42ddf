/* The system calls and the clock of AArch64. */
static long kernel(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

/* In ticks of half a nanosecond at most: `ticks` of pacman-core/src/arch/aarch64.rs has the same rule. */
static uint64_t ticks_now(void) {
    uint64_t now, rate;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
    return rate ? now * ((2000000000 + rate - 1) / rate) : now;
}

/* Relocations of a word that has the address of a symbol. */
#define IS_ADDRESS(type) ((type) == R_AARCH64_ABS64 || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_JUMP_SLOT)
