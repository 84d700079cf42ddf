//! Calls on another stack, and what valgrind has to know of it.

use std::arch::{asm, global_asm};
use std::ffi::c_void;

// rdi: the stack's end, rsi: the argument, rdx: the function. Keeps the frame pointer, so that debuggers
// and profilers see the program's frames.
global_asm!(
    ".pushsection .text.pacman_omp_on_stack, \"ax\", @progbits",
    ".hidden pacman_omp_on_stack",
    ".globl pacman_omp_on_stack",
    ".type pacman_omp_on_stack, @function",
    "pacman_omp_on_stack:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov rsp, rdi",
    "mov rdi, rsi",
    "call rdx",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
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
    // SAFETY: the instructions change no register but the answer's and the flags, and valgrind reads the request.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request.as_ptr(),
            inout("rdx") answer,
            in("rdi") 0usize,
            options(nostack)
        );
    }
    answer
}
