/*
 * The doorbell, counters and known work on Arm.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#define READ(name) ({ uint64_t value_; __asm__ volatile("mrs %0, " name : "=r"(value_)); value_; })
#define WRITE(name, value) __asm__ volatile("msr " name ", %0" : : "r"((uint64_t)(value)))

/* The event happens n times now on this CPU. */
static inline void ring(uint16_t event, uint64_t n)
{
    WRITE("s3_3_c15_c0_1", (uint64_t)event << 48 | n);
}

/* From now on an event happens n times per million user instructions. */
static inline void set_rate(uint16_t event, uint64_t n)
{
    WRITE("s3_3_c15_c0_3", (uint64_t)event << 48 | n);
}

/* User instructions of this CPU since it started, as the emulator knows them. */
static inline uint64_t user_instructions(void)
{
    return READ("s3_3_c15_c0_2");
}

/* Exactly 2 n instructions and n branches. */
static inline void spin(uint64_t n)
{
    __asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(n) : : "cc");
}

/* A counter by the number that the mmap page has: the name of its register is part of the instruction. */
static inline uint64_t user_counter(uint32_t index)
{
    switch (index) {
#define COUNTER(n) case n + 1: return READ("pmevcntr" #n "_el0")
    COUNTER(0); COUNTER(1); COUNTER(2); COUNTER(3); COUNTER(4); COUNTER(5); COUNTER(6); COUNTER(7);
    COUNTER(8); COUNTER(9); COUNTER(10); COUNTER(11); COUNTER(12); COUNTER(13); COUNTER(14); COUNTER(15);
    COUNTER(16); COUNTER(17); COUNTER(18); COUNTER(19); COUNTER(20); COUNTER(21); COUNTER(22); COUNTER(23);
    COUNTER(24); COUNTER(25); COUNTER(26); COUNTER(27); COUNTER(28); COUNTER(29); COUNTER(30);
#undef COUNTER
    case 32:
        return READ("pmccntr_el0");
    default:
        return 0;
    }
}
