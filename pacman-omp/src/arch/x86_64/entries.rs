//! Entries whose calls go on as they came, and calls in place.

/// The entry of a function of that name: code of three instructions, which jumps to `$via` of [`forwarding`].
macro_rules! forwarded {
    ($via:literal $name:ident) => {
        // Inlined into code of this library, the entry would have no return address of its own.
        #[unsafe(export_name = concat!("pacman_omp_entry_", stringify!($name)))]
        #[inline(never)]
        pub unsafe extern "C" fn $name() -> ! {
            // SAFETY: goes on to the real function, which returns to the caller.
            unsafe {
                std::arch::asm!(
                    "lea r10, [rip - 7]",
                    "mov r11d, {number}",
                    concat!("jmp ", $via),
                    number = const $crate::function::Function::$name as u32,
                    options(noreturn)
                )
            }
        }
    };
}
pub(crate) use forwarded;

/// The code to which entries jump; see `entry/README.md`.
///
/// r11 has the entry's number, r10 the address of its first instruction. The seven registers, those for
/// floating point and the return address keep the stack aligned to 16 bytes. The frame of a call in place
/// is the caller's own: rbx has the record, which has the return address and the caller's rbx. The
/// expressions below say so to debuggers and exceptions.
macro_rules! forwarding {
    ($($operands:tt)*) => {
        std::arch::global_asm!(
            ".pushsection .text.pacman_omp, \"ax\", @progbits",
            // Calls that matter only where waits are timed.
            ".hidden pacman_omp_waits",
            ".globl pacman_omp_waits",
            ".type pacman_omp_waits, @function",
            "pacman_omp_waits:",
            ".cfi_startproc",
            $crate::arch::prologue_undone!(),
            "cmp dword ptr [rip + {process} + {timed}], 0",
            "jne 4f",
            "jmp 5f",
            ".cfi_endproc",
            ".size pacman_omp_waits, . - pacman_omp_waits",
            // Requests for chunks, most of which are only counted. rcx, r8 and r9 may have arguments.
            ".hidden pacman_omp_chunks",
            ".globl pacman_omp_chunks",
            ".type pacman_omp_chunks, @function",
            "pacman_omp_chunks:",
            ".cfi_startproc",
            $crate::arch::prologue_undone!(),
            "cmp dword ptr [rip + {process} + {timed}], 0",
            "je 5f",
            "mov r10, qword ptr [rip + pacman_omp_worker@GOTTPOFF]",
            "mov r10, qword ptr fs:[r10]",
            "test r10, r10",
            "je 5f",
            "dec dword ptr [r10 + {chunks_left}]",
            "jns 5f",
            "jmp 4f",
            ".cfi_endproc",
            ".size pacman_omp_chunks, . - pacman_omp_chunks",
            // Calls that matter until the real function is known.
            ".hidden pacman_omp_passed",
            ".globl pacman_omp_passed",
            ".type pacman_omp_passed, @function",
            "pacman_omp_passed:",
            ".cfi_startproc",
            $crate::arch::prologue_undone!(),
            "5:",
            "lea r10, [rip + {shared}]",
            "mov r10, qword ptr [r10 + 8 * r11]",
            "test r10, r10",
            "je 4f",
            "jmp r10",
            ".cfi_endproc",
            ".size pacman_omp_passed, . - pacman_omp_passed",
            // System calls, most of which have no meaning here.
            ".hidden pacman_omp_system_calls",
            ".globl pacman_omp_system_calls",
            ".type pacman_omp_system_calls, @function",
            "pacman_omp_system_calls:",
            ".cfi_startproc",
            $crate::arch::prologue_undone!(),
            "cmp rdi, {system_calls}",
            "jae 4f",
            "lea r10, [rip + {meanings}]",
            "cmp byte ptr [r10 + rdi], 0",
            "jne 4f",
            "lea r10, [rip + {next}]",
            "mov r10, qword ptr [r10 + 8 * r11]",
            "test r10, r10",
            "je 4f",
            "jmp r10",
            ".cfi_endproc",
            ".size pacman_omp_system_calls, . - pacman_omp_system_calls",
            // Calls that always matter.
            ".hidden pacman_omp_watched",
            ".globl pacman_omp_watched",
            ".type pacman_omp_watched, @function",
            "pacman_omp_watched:",
            ".cfi_startproc",
            $crate::arch::prologue_undone!(),
            "4:",
            "push rax",
            "push r9",
            "push r8",
            "push rcx",
            "push rdx",
            "push rsi",
            "push rdi",
            ".cfi_adjust_cfa_offset 56",
            "sub rsp, 128",
            ".cfi_adjust_cfa_offset 128",
            "movups [rsp], xmm0",
            "movups [rsp + 16], xmm1",
            "movups [rsp + 32], xmm2",
            "movups [rsp + 48], xmm3",
            "movups [rsp + 64], xmm4",
            "movups [rsp + 80], xmm5",
            "movups [rsp + 96], xmm6",
            "movups [rsp + 112], xmm7",
            "mov edi, r11d",
            "lea rsi, [rsp + 128]",
            "lea rdx, [rsp + 184]",
            "call {decide}",
            "mov r11, rax",
            "mov r10, rdx",
            "movups xmm0, [rsp]",
            "movups xmm1, [rsp + 16]",
            "movups xmm2, [rsp + 32]",
            "movups xmm3, [rsp + 48]",
            "movups xmm4, [rsp + 64]",
            "movups xmm5, [rsp + 80]",
            "movups xmm6, [rsp + 96]",
            "movups xmm7, [rsp + 112]",
            "add rsp, 128",
            ".cfi_adjust_cfa_offset -128",
            "pop rdi",
            "pop rsi",
            "pop rdx",
            "pop rcx",
            "pop r8",
            "pop r9",
            "pop rax",
            ".cfi_adjust_cfa_offset -56",
            "test r10, r10",
            "jne pacman_omp_in_place",
            "jmp r11",
            ".cfi_endproc",
            ".size pacman_omp_watched, . - pacman_omp_watched",
            // r11: the real function, r10: the record.
            ".hidden pacman_omp_in_place",
            ".type pacman_omp_in_place, @function",
            "pacman_omp_in_place:",
            ".cfi_startproc",
            ".cfi_personality 0x1b, {left}",
            "mov qword ptr [r10 + 8], rbx",
            "mov rbx, r10",
            // DW_CFA_expression: rbx (3) is saved at [rbx + 8].
            ".cfi_escape 0x10, 3, 2, 0x73, 8",
            "pop qword ptr [rbx]",
            // DW_CFA_val_expression: the caller's rsp (7) is rsp. The frame address is one word above, because
            // unwinders know frames by it, and would take this one for the real function's.
            ".cfi_escape 0x16, 7, 2, 0x77, 0",
            // The return address (16) is saved at [rbx].
            ".cfi_escape 0x10, 16, 2, 0x73, 0",
            "call r11",
            ".hidden pacman_omp_returned",
            ".globl pacman_omp_returned",
            "pacman_omp_returned:",
            "push qword ptr [rbx]",
            ".cfi_restore 7",
            ".cfi_offset 16, -8",
            "push rax",
            "push rdx",
            "sub rsp, 40",
            ".cfi_adjust_cfa_offset 56",
            "movups [rsp], xmm0",
            "movups [rsp + 16], xmm1",
            "mov rdi, rbx",
            "mov rbx, qword ptr [rbx + 8]",
            ".cfi_restore 3",
            "lea rsi, [rsp + 48]",
            "call {ended}",
            "movups xmm0, [rsp]",
            "movups xmm1, [rsp + 16]",
            "add rsp, 40",
            "pop rdx",
            "pop rax",
            ".cfi_adjust_cfa_offset -56",
            "ret",
            ".cfi_endproc",
            ".size pacman_omp_in_place, . - pacman_omp_in_place",
            ".popsection",
            $($operands)*
        );
    };
}
pub(crate) use forwarding;
