//! x86-64: RDPMC, the time stamp counter and MXCSR.

use std::arch::asm;

use super::UserReads;

/// The argument of RDPMC. Bit 30 selects Intel's fixed counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(u32);

impl Register {
    /// The counter that a page names by `index`, less 1. RDPMC has all that a kernel names.
    #[inline(always)]
    pub fn of(index: u32) -> Option<Register> {
        Some(Register(index))
    }

    /// As [`of`](Self::of), on a simulated machine.
    #[inline(always)]
    pub fn simulated(index: u32) -> Register {
        Register(index)
    }

    /// The index that it was made of.
    #[inline(always)]
    pub fn index(self) -> u32 {
        self.0
    }

    /// The same for [`read_counters`].
    #[inline(always)]
    pub(crate) fn followed_by(self, _others: usize) -> Register {
        self
    }
}

/// The lower and the upper 32 bits of a counter, each in a word with an upper half of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawCount {
    low: u64,
    high: u64,
}

impl RawCount {
    /// A simulated counter's value.
    pub fn simulated(value: u64) -> RawCount {
        RawCount { low: value & 0xffff_ffff, high: value >> 32 }
    }

    /// Both halves.
    #[inline(always)]
    pub fn halves(self) -> (u64, u64) {
        (self.low, self.high)
    }

    /// The register as it is.
    #[inline(always)]
    pub fn whole(self) -> u64 {
        self.high << 32 | self.low
    }

    /// The count of a counter of `WIDTH` bits, more than 32, as a signed number.
    ///
    /// The kernel starts a counter at minus its period, so the value is negative
    /// until it overflows; without the extension counts jump by 2^WIDTH.
    #[inline(always)]
    pub fn extended<const WIDTH: u32>(self) -> u64 {
        debug_assert!(WIDTH > 32 && WIDTH <= 64);
        // The upper half alone is extended: bits 32..WIDTH move to the top and come
        // back down over bits 32..64, one instruction less than on the whole word.
        let high = ((self.high << (96 - WIDTH)) as i64 >> (64 - WIDTH)) as u64;
        high | self.low
    }
}

/// Processors since 2008. The Pentium 4 and Core 2 have 40 bits.
pub(crate) const WIDTH: u32 = 48;
pub(crate) const OTHER_WIDTH: u32 = 48;

/// Too few registers for the locations of four events.
pub(crate) const READS_AHEAD: bool = false;

pub(crate) fn user_reads(_: &str) -> UserReads {
    UserReads::ByPage
}

/// Reads a hardware counter of the executing context.
///
/// # Safety
/// The kernel must allow user RDPMC now, and the counter must exist on this
/// context; the thread gets SIGSEGV otherwise.
#[inline(always)]
pub(crate) unsafe fn read_counter(register: Register) -> RawCount {
    let (low, high);
    // In 64-bit mode RDPMC clears the upper halves of RAX and RDX (SDM vol. 2, RDPMC). So the whole
    // registers are taken without a mask.
    // SAFETY: the caller's promise. Not `pure`: the counter changes by itself.
    unsafe {
        asm!("rdpmc", in("ecx") register.0, out("rax") low, out("rdx") high,
            options(nomem, nostack, preserves_flags));
    }
    RawCount { low, high }
}

/// # Safety
/// As for [`read_counter`].
#[inline(always)]
pub(crate) unsafe fn read_counters<const N: usize>(registers: [Register; N]) -> [RawCount; N] {
    // SAFETY: as the contract of this function.
    registers.map(|register| unsafe { read_counter(register) })
}

/// Each context has a fixed counter of its own.
pub(crate) fn shares_cycle_counter(_: &str) -> bool {
    false
}

pub(crate) const PAGE: usize = 1 << 12;

/// The time stamp counter.
pub const CLOCK_SOURCE: Option<&str> = Some("tsc");

/// The time stamp counter, without order against other instructions. The counter reads beside it
/// have no order either, and a fence costs more than it gains.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    let ticks;
    // In assembly, because the compiler would copy both halves before it joins them.
    // SAFETY: RDTSC exists on every x86-64 processor; Linux allows it unless the
    // process asked for PR_TSC_SIGSEGV. Not `pure`: time passes.
    unsafe {
        asm!("rdtsc", "shl rdx, 32", "or rax, rdx", out("rax") ticks, out("rdx") _,
            options(nomem, nostack));
    }
    ticks
}

/// CPUID states the rate on some processors only, and there as a nominal figure: it is measured.
pub(crate) fn ticks_per_second() -> Option<u64> {
    None
}

/// A program's MXCSR.
#[cfg_attr(test, derive(Clone, Copy))]
pub(crate) struct FloatingPoint(u32);

/// MXCSR after a reset: no traps, no flags, rounding to nearest.
static USUAL: u32 = 0x1f80;

impl FloatingPoint {
    /// Loads the usual state; returns the program's.
    #[inline(always)]
    pub(crate) fn exchange() -> FloatingPoint {
        let mut programs = 0u32;
        // SAFETY: stores and loads a control register that every x86-64 processor has, with a
        // value that it can hold. Not `nomem`: the words are in memory.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut programs, options(nostack, preserves_flags));
            asm!("ldmxcsr [{}]", in(reg) &raw const USUAL, options(nostack, preserves_flags));
        }
        FloatingPoint(programs)
    }

    /// Loads the program's state again.
    #[inline(always)]
    pub(crate) fn restore(self) {
        // SAFETY: as in `exchange`; the register held the value.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const self.0, options(nostack, preserves_flags))
        }
    }
}

/// `read(2)` as a bare system call. Returns minus the `errno` if it fails.
#[inline(always)]
pub(crate) fn read_call(fd: i32, into: &mut [u64]) -> isize {
    let answer;
    // SAFETY: the buffer is valid for its whole length in bytes. Apart from RAX the
    // instruction changes only RCX and R11.
    unsafe {
        asm!("syscall", inlateout("rax") libc::SYS_read as isize => answer,
            in("rdi") fd as isize, in("rsi") into.as_mut_ptr(), in("rdx") size_of_val(into),
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    answer
}

#[inline(always)]
pub(crate) fn made(value: u64) -> u64 {
    let made;
    // SAFETY: no instruction. Not `pure`, or the compiler would delay it as well.
    unsafe {
        asm!("/* {0} */", inout(reg) value => made, options(nomem, nostack, preserves_flags));
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::extend_to;

    impl FloatingPoint {
        /// Rounding upwards; all traps, no trap, and all flags.
        pub(crate) const TRIED: [FloatingPoint; 3] =
            [FloatingPoint(0x4000), FloatingPoint(0x5f80), FloatingPoint(0x5fbf)];

        pub(crate) fn is_now(&self) -> bool {
            let mut state = 0u32;
            // SAFETY: stores a control register that every x86-64 processor has.
            unsafe {
                asm!("stmxcsr [{}]", in(reg) &raw mut state, options(nostack, preserves_flags));
            }
            state == self.0
        }
    }

    #[test]
    fn the_fast_extension_equals_the_plain_one() {
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..10_000 {
            x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let (wide, narrow) = (x & 0xffff_ffff_ffff, x & 0xff_ffff_ffff);
            assert_eq!(RawCount::simulated(wide).extended::<48>(), extend_to(48, wide));
            assert_eq!(RawCount::simulated(narrow).extended::<40>(), extend_to(40, narrow));
            assert_eq!(RawCount::simulated(x).whole(), x);
        }
    }
}
