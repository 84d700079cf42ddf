//! Calls with any number of words.

/// The entry of `__kmpc_fork_call`, and `pacman_omp_invoke`.
///
/// The entry stores the five argument registers after the body on the stack, and passes their address and that of
/// the stack arguments to Rust.
///
/// pacman_omp_invoke: stores the seventh and later words on the stack, in an even number of slots, because the
/// stack must be aligned to 16 bytes.
macro_rules! words {
    ($($operands:tt)*) => {
        std::arch::global_asm!(
            ".pushsection .text.pacman_omp, \"ax\", %progbits",
            ".balign 16",
            ".hidden pacman_omp_entry___kmpc_fork_call",
            ".globl pacman_omp_entry___kmpc_fork_call",
            ".type pacman_omp_entry___kmpc_fork_call, %function",
            "pacman_omp_entry___kmpc_fork_call:",
            ".cfi_startproc",
            "hint #34", // bti c
            "stp x29, x30, [sp, #-64]!",
            ".cfi_def_cfa_offset 64",
            ".cfi_offset 29, -64",
            ".cfi_offset 30, -56",
            "mov x29, sp",
            "stp x3, x4, [sp, #16]",
            "stp x5, x6, [sp, #32]",
            "str x7, [sp, #48]",
            "add x3, sp, #16",
            "add x4, sp, #64",
            "bl {fork_call}",
            "ldp x29, x30, [sp], #64",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore 29",
            ".cfi_restore 30",
            "ret",
            ".cfi_endproc",
            ".size pacman_omp_entry___kmpc_fork_call, . - pacman_omp_entry___kmpc_fork_call",
            ".hidden pacman_omp_invoke",
            ".globl pacman_omp_invoke",
            ".type pacman_omp_invoke, %function",
            "pacman_omp_invoke:",
            ".cfi_startproc",
            "stp x29, x30, [sp, #-16]!",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset 29, -16",
            ".cfi_offset 30, -8",
            "mov x29, sp",
            ".cfi_def_cfa_register 29",
            "mov x16, x0",
            "mov x0, x1",
            "mov x1, x2",
            "mov x9, x3",
            "mov x10, x4",
            // Most bodies have few words or none. Missing words need not be read from the primary thread's
            // stack.
            "cbz x9, 4f",
            "subs x9, x9, #6",
            "b.ls 3f",
            "add x11, x9, #1",
            "and x11, x11, #-2",
            "sub sp, sp, x11, lsl #3",
            "add x11, x10, #48",
            "2:",
            "sub x9, x9, #1",
            "ldr x12, [x11, x9, lsl #3]",
            "str x12, [sp, x9, lsl #3]",
            "cbnz x9, 2b",
            "3:",
            "ldp x2, x3, [x10]",
            "ldp x4, x5, [x10, #16]",
            "ldp x6, x7, [x10, #32]",
            "4:",
            "blr x16",
            "mov sp, x29",
            "ldp x29, x30, [sp], #16",
            ".cfi_def_cfa 31, 0",
            ".cfi_restore 29",
            ".cfi_restore 30",
            "ret",
            ".cfi_endproc",
            ".size pacman_omp_invoke, . - pacman_omp_invoke",
            ".popsection",
            $($operands)*
        );
    };
}
pub(crate) use words;
