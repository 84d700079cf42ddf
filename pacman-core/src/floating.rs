//! Isolates this library's arithmetic from the calling program's floating-point state.
//!
//! Programs read the flags that arithmetic sets (Fortran's STOP prints them), change the rounding,
//! and enable traps. This library's arithmetic must not set the program's flags. The program's
//! rounding and traps must not affect this library. Functions of the C library's mathematics also set
//! `errno`, as `exp` does for a result that is too small.

#[cfg(target_arch = "x86_64")]
use std::arch::asm;
use std::ffi::c_int;

/// MXCSR after a reset: no traps, no flags, rounding to nearest.
#[cfg(target_arch = "x86_64")]
static USUAL: u32 = 0x1f80;

/// Calls `act`, which computes with floating-point numbers, in the usual state. Then it restores
/// the program's state and `errno`. On processors other than x86-64 it restores `errno` only.
///
/// `act` must not unwind: the program's state would not be restored.
///
/// ```
/// assert_eq!(pacman_core::floating::isolated(|| 1.0 / 4.0), 0.25);
/// ```
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn isolated<R>(act: impl FnOnce() -> R) -> R {
    /// Keeps the computation inside, not before or after.
    #[inline(never)]
    fn within<R>(act: impl FnOnce() -> R) -> R {
        act()
    }
    let mut programs = 0u32;
    let errno = errno();
    // SAFETY: stores and loads a control register that every x86-64 processor has, with a value
    // that it held and with one that it can hold. Not `nomem`: the words are in memory.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &raw mut programs, options(nostack, preserves_flags));
        asm!("ldmxcsr [{}]", in(reg) &raw const USUAL, options(nostack, preserves_flags));
    }
    let done = within(act);
    // SAFETY: as above.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const programs, options(nostack, preserves_flags)) };
    set_errno(errno);
    done
}

/// Calls `act` and restores `errno`: the state of this processor is not known.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn isolated<R>(act: impl FnOnce() -> R) -> R {
    let errno = errno();
    let done = act();
    set_errno(errno);
    done
}

#[inline]
fn errno() -> c_int {
    // SAFETY: a word of this thread.
    unsafe { *libc::__errno_location() }
}

#[inline]
fn set_errno(errno: c_int) {
    // SAFETY: a word of this thread.
    unsafe { *libc::__errno_location() = errno };
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn state() -> u32 {
        let mut state = 0u32;
        // SAFETY: stores a control register that every x86-64 processor has.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut state, options(nostack, preserves_flags)) };
        state
    }

    fn set(state: u32) {
        // SAFETY: loads it with values that it can hold; the test's thread is its own.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const state, options(nostack, preserves_flags))
        };
    }

    #[test]
    fn nothing_traps_and_everything_stays() {
        let before = state();
        // Rounding upwards; all traps, no trap, and all flags.
        for programs in [0x4000, 0x5f80, 0x5fbf] {
            set(programs);
            let third = isolated(|| std::hint::black_box(1.0) / std::hint::black_box(3.0));
            let none = isolated(|| std::hint::black_box(0.0) / std::hint::black_box(0.0));
            let after = state();
            set(before);
            assert_eq!(after, programs);
            assert_eq!(f64::to_bits(third), 0x3fd5_5555_5555_5555, "rounded to nearest");
            assert!(f64::is_nan(none));
        }
    }

    #[test]
    fn results_that_are_too_small_leave_no_error() {
        set_errno(77);
        let small = isolated(|| std::hint::black_box(-1000.0f64).exp());
        assert_eq!((small, errno()), (0.0, 77));
    }
}
