//! Single instructions.

use std::arch::asm;
use std::arch::x86_64::{_MM_HINT_T0, _mm_lfence, _mm_prefetch};
use std::ffi::{c_long, c_void};

/// Brings the line at an address near. It has no other effect.
#[inline(always)]
pub(crate) fn prefetch(at: *const c_void) {
    // SAFETY: SSE, which every processor of x86-64 has. Any address will do.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
}

/// Instructions after this begin when those before it are done.
#[inline(always)]
pub(crate) fn wait_for_instructions() {
    // SAFETY: SSE2, which every processor of x86-64 has.
    unsafe { _mm_lfence() };
}

/// Calls the kernel without the C library. Answers what the kernel does: below 0 is an error.
///
/// # Safety
/// As for the system call of that number.
#[inline(always)]
pub(crate) unsafe fn system_call(number: c_long, first: c_long, second: *mut c_void) -> c_long {
    let mut result = number;
    // SAFETY: as the caller guarantees. The kernel changes rax, rcx and r11 only.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") result,
            in("rdi") first,
            in("rsi") second,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    result
}
