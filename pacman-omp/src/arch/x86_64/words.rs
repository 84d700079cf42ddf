//! Calls with any number of words.

/// The entry of `__kmpc_fork_call`, and `pacman_omp_invoke`.
///
/// pacman_omp_fork_call: stores the three argument registers after the body on the stack, and passes
/// their address and that of the stack arguments to Rust.
///
/// pacman_omp_invoke: stores the fifth and later words on the stack, in an even number of slots, because
/// calls need it aligned to 16 bytes.
macro_rules! words {
    ($($operands:tt)*) => {
        #[unsafe(export_name = "pacman_omp_entry___kmpc_fork_call")]
        pub unsafe extern "C" fn __kmpc_fork_call() -> ! {
            // SAFETY: does not return here; see `pacman_omp_fork_call`.
            unsafe {
                std::arch::asm!("lea r10, [rip - 7]", "jmp pacman_omp_fork_call", options(noreturn))
            }
        }

        std::arch::global_asm!(
            ".pushsection .text.pacman_omp, \"ax\", @progbits",
            ".hidden pacman_omp_fork_call",
            ".globl pacman_omp_fork_call",
            ".type pacman_omp_fork_call, @function",
            "pacman_omp_fork_call:",
            ".cfi_startproc",
            $crate::arch::prologue_undone!(),
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "sub rsp, 32",
            "mov [rsp], rcx",
            "mov [rsp + 8], r8",
            "mov [rsp + 16], r9",
            "mov rcx, rsp",
            "lea r8, [rbp + 16]",
            "call {fork_call}",
            "leave",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
            ".size pacman_omp_fork_call, . - pacman_omp_fork_call",
            ".hidden pacman_omp_invoke",
            ".globl pacman_omp_invoke",
            ".type pacman_omp_invoke, @function",
            "pacman_omp_invoke:",
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "mov r11, rdi",
            "mov rdi, rsi",
            "mov rsi, rdx",
            "mov r10, r8",
            // Most bodies have few words or none. Missing words need not be read from the primary thread's
            // stack.
            "test rcx, rcx",
            "jz 4f",
            "cmp rcx, 4",
            "jbe 3f",
            "sub rcx, 4",
            "lea rdx, [rcx + 1]",
            "and rdx, -2",
            "shl rdx, 3",
            "sub rsp, rdx",
            "2:",
            "mov rdx, [r10 + rcx * 8 + 24]",
            "mov [rsp + rcx * 8 - 8], rdx",
            "dec rcx",
            "jnz 2b",
            "3:",
            "mov rdx, [r10]",
            "mov rcx, [r10 + 8]",
            "mov r8, [r10 + 16]",
            "mov r9, [r10 + 24]",
            "4:",
            "xor eax, eax",
            "call r11",
            "leave",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
            ".size pacman_omp_invoke, . - pacman_omp_invoke",
            ".popsection",
            $($operands)*
        );
    };
}
pub(crate) use words;
