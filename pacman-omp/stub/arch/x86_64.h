/* The system calls and the clock of x86-64. */
static long kernel(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static uint64_t ticks_now(void) {
    return __builtin_ia32_rdtsc();
}

/* Relocations of a word that has the address of a symbol. */
#define IS_ADDRESS(type) ((type) == R_X86_64_64 || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_JUMP_SLOT)
