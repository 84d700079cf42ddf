//! Calls on another stack, and what valgrind has to know of it.

use std::arch::{asm, global_asm};
use std::ffi::c_void;

// x0: the stack's end, x1: the argument, x2: the function. Keeps the frame pointer, so that debuggers
// and profilers see the program's frames.
global_asm!(
    ".pushsection .text.pacman_omp_on_stack, \"ax\", %progbits",
    ".balign 16",
    ".hidden pacman_omp_on_stack",
    ".globl pacman_omp_on_stack",
    ".type pacman_omp_on_stack, %function",
    "pacman_omp_on_stack:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-16]!",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset 29, -16",
    ".cfi_offset 30, -8",
    "mov x29, sp",
    ".cfi_def_cfa_register 29",
    "mov sp, x0",
    "mov x0, x1",
    "blr x2",
    "mov sp, x29",
    "ldp x29, x30, [sp], #16",
    ".cfi_def_cfa 31, 0",
    ".cfi_restore 29",
    ".cfi_restore 30",
    "ret",
    ".cfi_endproc",
    ".size pacman_omp_on_stack, . - pacman_omp_on_stack",
    ".popsection",
);

unsafe extern "C" {
    /// Calls `act` on the stack that ends at `end`.
    pub(crate) fn pacman_omp_on_stack(
        end: *mut c_void,
        argument: *mut c_void,
        act: unsafe extern "C" fn(*mut c_void),
    );
}

/// Makes a request of valgrind: its number and two arguments. Returns 0 elsewhere, where the instructions do
/// nothing: the rotations are by 128 bits together.
pub(crate) fn client_request([number, first, second]: [usize; 3]) -> usize {
    let request = [number, first, second, 0, 0, 0];
    let mut answer = 0usize;
    // SAFETY: the instructions change no register but the answer's, and valgrind reads the request.
    unsafe {
        asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            inout("x3") answer,
            in("x4") request.as_ptr(),
            options(nostack)
        );
    }
    answer
}
