//! Reads the time stamp counter in order with the instructions around it.
//!
//! None of these blocks is `nomem`, so that the compiler keeps loads and stores on their side.

use std::arch::asm;

/// The time before a section, which starts only after the reading.
#[inline(always)]
pub(super) fn begin() -> u64 {
    let ticks;
    // SAFETY: LFENCE and RDTSC exist on every x86-64 processor; Linux allows RDTSC unless the
    // process asked for PR_TSC_SIGSEGV.
    unsafe {
        asm!("lfence", "rdtsc", "lfence", "shl rdx, 32", "or rax, rdx",
            out("rax") ticks, out("rdx") _, options(nostack));
    }
    ticks
}

/// The time and CPU after a section, which ends before the reading.
///
/// # Safety
/// The processor must have RDTSCP.
#[inline(always)]
pub(super) unsafe fn end() -> (u64, u32) {
    let ticks;
    let aux: u32;
    // RDTSCP waits for earlier instructions, but only the fence holds back later ones.
    // SAFETY: the caller's promise.
    unsafe {
        asm!("rdtscp", "lfence", "shl rdx, 32", "or rax, rdx",
            out("rax") ticks, out("rdx") _, out("ecx") aux, options(nostack));
    }
    // Linux keeps the CPU's number in the low 12 bits of TSC_AUX, the node's above.
    (ticks, aux & 0xfff)
}
