//! Single instructions.

use std::arch::asm;
use std::ffi::{c_long, c_void};

/// Brings the line at an address near. It has no other effect.
#[inline(always)]
pub(crate) fn prefetch(at: *const c_void) {
    // SAFETY: any address will do.
    unsafe {
        asm!("prfm pldl1keep, [{0}]", in(reg) at, options(nostack, readonly, preserves_flags))
    };
}

/// Instructions after this begin when those before it are done.
#[inline(always)]
pub(crate) fn wait_for_instructions() {
    // SAFETY: changes nothing.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
}

/// Calls the kernel without the C library. Answers what the kernel does: below 0 is an error.
///
/// # Safety
/// As for the system call of that number.
#[inline(always)]
pub(crate) unsafe fn system_call(number: c_long, first: c_long, second: *mut c_void) -> c_long {
    let mut result = first;
    // SAFETY: as the caller guarantees. The kernel changes x0 only.
    unsafe {
        asm!(
            "svc #0",
            in("x8") number,
            inlateout("x0") result,
            in("x1") second,
            options(nostack)
        );
    }
    result
}
