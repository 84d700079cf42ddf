//! The lab's doorbell: CPUID leaves by which a guest program asks the emulator
//! how many instructions its hardware context has really retired.

use core::arch::x86_64::__cpuid_count;

const PROBE: u32 = 0x4c50_4d00;
const RETIRED: u32 = 0x4c50_4d02;

/// Whether this program runs in the lab.
pub(crate) fn in_lab() -> bool {
    // SAFETY: CPUID exists on every x86-64 processor. (Safe to call since Rust 1.94.)
    #[allow(unused_unsafe)]
    let answer = unsafe { __cpuid_count(PROBE, 0) };
    answer.eax == PROBE
}

/// User and kernel instructions retired by this hardware context since it started.
pub(crate) fn retired() -> (u64, u64) {
    let (user, kernel): (u64, u64);
    // The answer is 64 bits wide, so the intrinsic, which keeps 32, will not do.
    // SAFETY: CPUID changes only the registers named; RBX, which LLVM keeps for
    // itself, is saved around it.
    unsafe {
        core::arch::asm!(
            "mov {keep}, rbx",
            "cpuid",
            "xchg {keep}, rbx",
            keep = out(reg) kernel,
            inout("rax") u64::from(RETIRED) => user,
            inout("rcx") 0u64 => _,
            out("rdx") _,
            options(nostack, nomem),
        );
    }
    (user, kernel)
}
