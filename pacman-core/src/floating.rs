//! Isolates this library's arithmetic from the calling program's floating-point state.
//!
//! Programs read the flags that arithmetic sets (Fortran's STOP prints them), change the rounding,
//! and enable traps. This library's arithmetic must not set the program's flags. The program's
//! rounding and traps must not affect this library. Functions of the C library's mathematics also set
//! `errno`, as `exp` does for a result that is too small.

use std::ffi::c_int;

use crate::arch::FloatingPoint;

/// Calls `act`, which computes with floating-point numbers, in the usual state. Then it restores
/// the program's state and `errno`. On processors other than x86-64 and AArch64 it restores `errno`
/// only.
///
/// `act` must not unwind: the program's state would not be restored.
///
/// ```
/// assert_eq!(pacman_core::floating::isolated(|| 1.0 / 4.0), 0.25);
/// ```
#[inline]
pub fn isolated<R>(act: impl FnOnce() -> R) -> R {
    /// Keeps the computation inside, not before or after.
    #[inline(never)]
    fn within<R>(act: impl FnOnce() -> R) -> R {
        act()
    }
    let errno = errno();
    let programs = FloatingPoint::exchange();
    let done = within(act);
    programs.restore();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_traps_and_everything_stays() {
        for programs in FloatingPoint::TRIED {
            let before = FloatingPoint::exchange();
            programs.restore();
            let third = isolated(|| std::hint::black_box(1.0) / std::hint::black_box(3.0));
            let none = isolated(|| std::hint::black_box(0.0) / std::hint::black_box(0.0));
            let stayed = programs.is_now();
            before.restore();
            assert!(stayed);
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
