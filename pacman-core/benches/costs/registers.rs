//! Registers that programs read without a system call on each architecture: the processor's counters, and the lab's
//! doorbell, by which the emulator says how many instructions a hardware context has really retired.

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{ASK, counter, retired};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{ASK, counter, retired};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use core::arch::asm;

    const RETIRED: u64 = 0x4c50_4d02;

    /// Values of `config1`, of which the first that the kernel takes asks for reads in user mode.
    pub(crate) const ASK: &[u64] = &[0];

    /// User and kernel instructions retired by this hardware context since it started.
    pub(crate) fn retired() -> (u64, u64) {
        let (user, kernel): (u64, u64);
        // The answer is 64 bits wide, so the intrinsic, which keeps 32, will not do.
        // SAFETY: CPUID changes only the registers named; RBX, which LLVM keeps for
        // itself, is saved around it.
        unsafe {
            asm!(
                "mov {keep}, rbx",
                "cpuid",
                "xchg {keep}, rbx",
                keep = out(reg) kernel,
                inout("rax") RETIRED => user,
                inout("rcx") 0u64 => _,
                out("rdx") _,
                options(nostack, nomem),
            );
        }
        (user, kernel)
    }

    /// # Safety
    /// The caller holds the event that owns the counter.
    #[inline(always)]
    pub(crate) unsafe fn counter(index: u32) -> u64 {
        let (low, high): (u64, u64);
        // SAFETY: the caller's promise.
        unsafe {
            asm!("rdpmc", in("ecx") index, out("rax") low, out("rdx") high,
                options(nomem, nostack, preserves_flags));
        }
        high << 32 | low
    }
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use core::arch::asm;

    /// As on x86: user reads of counters of 64 bits, else of 32.
    pub(crate) const ASK: &[u64] = &[3, 2];

    /// User and kernel instructions retired by this hardware context since it started.
    pub(crate) fn retired() -> (u64, u64) {
        let (user, kernel);
        // SAFETY: reads registers that the lab's processors have.
        unsafe {
            asm!("mrs {user}, s3_3_c15_c0_2", "mrs {kernel}, s3_3_c15_c0_6",
                user = out(reg) user, kernel = out(reg) kernel, options(nomem, nostack));
        }
        (user, kernel)
    }

    /// The number of a register is part of the instruction: a table of jumps, as in Linux's `tools/lib/perf/mmap.c`.
    ///
    /// # Safety
    /// The caller holds the event that owns the counter.
    #[inline(always)]
    pub(crate) unsafe fn counter(index: u32) -> u64 {
        macro_rules! counters {
            ($($number:literal)*) => {
                match index {
                    $($number => {
                        let value;
                        // SAFETY: the caller's promise.
                        unsafe {
                            asm!(concat!("mrs {}, pmevcntr", $number, "_el0"), out(reg) value,
                                options(nomem, nostack, preserves_flags));
                        }
                        value
                    })*
                    31 => {
                        let value;
                        // SAFETY: as above.
                        unsafe {
                            asm!("mrs {}, pmccntr_el0", out(reg) value,
                                options(nomem, nostack, preserves_flags));
                        }
                        value
                    }
                    _ => 0,
                }
            };
        }
        counters!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30)
    }
}
