//! The word of thread-local storage in the preloaded library.

use std::arch::asm;
use std::ffi::c_void;

// Tests have no preloaded library.
#[cfg(test)]
std::arch::global_asm!(
    ".pushsection .tbss.pacman_omp_worker, \"awT\", @nobits",
    ".balign 8",
    ".hidden pacman_omp_worker",
    ".globl pacman_omp_worker",
    ".type pacman_omp_worker, @object",
    ".size pacman_omp_worker, 8",
    "pacman_omp_worker:",
    ".zero 8",
    ".popsection",
);

/// The word's value.
#[inline(always)]
pub(crate) fn get_worker() -> *const c_void {
    let worker;
    // SAFETY: reads the word above.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + pacman_omp_worker@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) worker,
            options(nostack, readonly, preserves_flags)
        );
    }
    worker
}

/// Sets the word.
#[inline]
pub(crate) fn set_worker(worker: *const c_void) {
    // SAFETY: writes the word above.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + pacman_omp_worker@GOTTPOFF]",
            "mov qword ptr fs:[{0}], {1}",
            out(reg) _,
            in(reg) worker,
            options(nostack, preserves_flags)
        );
    }
}
