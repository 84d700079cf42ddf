//! The program's floating-point state, which is none of this library's business.
//!
//! Programs look at the flags that arithmetic leaves behind (Fortran's STOP prints them), change how
//! it rounds, and have it trap. What the library computes must do none of this to them, and must
//! not be done so to.

use std::arch::asm;

/// MXCSR after a reset: nothing traps, nothing is flagged, rounding to nearest.
static USUAL: u32 = 0x1f80;

/// Does `act`, which computes with floating-point numbers, in the usual state, and puts the
/// program's back.
#[inline]
pub(crate) fn apart<R>(act: impl FnOnce() -> R) -> R {
    /// Computes in here, and not before or after.
    #[inline(never)]
    fn within<R>(act: impl FnOnce() -> R) -> R {
        act()
    }
    let mut programs = 0u32;
    // SAFETY: stores and loads a control register that every x86-64 processor has, with a value
    // that it held and with one that it can hold. Not `nomem`: the words are in memory.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &raw mut programs, options(nostack, preserves_flags));
        asm!("ldmxcsr [{}]", in(reg) &raw const USUAL, options(nostack, preserves_flags));
    }
    let done = within(act);
    // SAFETY: as above.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const programs, options(nostack, preserves_flags)) };
    done
}
