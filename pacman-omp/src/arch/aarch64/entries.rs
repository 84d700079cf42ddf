//! Entries whose calls go on as they came, and calls in place.

/// The entry of a function of that name: code of three instructions, which jumps to `$via` of [`forwarding`].
macro_rules! forwarded {
    ($via:literal $name:ident) => {
        unsafe extern "C" {
            #[link_name = concat!("pacman_omp_entry_", stringify!($name))]
            #[allow(dead_code)] // The table of entries names the symbol.
            pub fn $name() -> !;
        }

        std::arch::global_asm!(
            ".pushsection .text.pacman_omp, \"ax\", %progbits",
            ".balign 16",
            concat!(".hidden pacman_omp_entry_", stringify!($name)),
            concat!(".globl pacman_omp_entry_", stringify!($name)),
            concat!(".type pacman_omp_entry_", stringify!($name), ", %function"),
            concat!("pacman_omp_entry_", stringify!($name), ":"),
            ".cfi_startproc",
            "hint #34", // bti c
            "mov w15, #{number}",
            concat!("b ", $via),
            ".cfi_endproc",
            concat!(
                ".size pacman_omp_entry_", stringify!($name),
                ", . - pacman_omp_entry_", stringify!($name),
            ),
            ".popsection",
            number = const $crate::function::Function::$name as u32,
        );
    };
}
pub(crate) use forwarded;

/// The code to which entries jump; see `entry/README.md`.
///
/// x15 has the entry's number. The return address is stored in the word below the caller's stack, so that
/// `decide` finds arguments on the stack right behind it. The frame of a call in place is the caller's own: x19
/// has the record, which has the return address and the caller's x19. The expressions below say so to debuggers
/// and exceptions. Jumps to other functions go through x16, which BTI lets arrive at the begin of a function.
macro_rules! forwarding {
    ($($operands:tt)*) => {
        std::arch::global_asm!(
            ".pushsection .text.pacman_omp, \"ax\", %progbits",
            ".balign 16",
            // Calls that matter only where waits are timed.
            ".hidden pacman_omp_waits",
            ".globl pacman_omp_waits",
            ".type pacman_omp_waits, %function",
            "pacman_omp_waits:",
            ".cfi_startproc",
            "adrp x16, {process} + {timed}",
            "ldr w16, [x16, :lo12:{process} + {timed}]",
            "cbnz w16, 4f",
            "b 5f",
            ".cfi_endproc",
            ".size pacman_omp_waits, . - pacman_omp_waits",
            // Requests for chunks, most of which are only counted.
            ".hidden pacman_omp_chunks",
            ".globl pacman_omp_chunks",
            ".type pacman_omp_chunks, %function",
            "pacman_omp_chunks:",
            ".cfi_startproc",
            "adrp x16, {process} + {timed}",
            "ldr w16, [x16, :lo12:{process} + {timed}]",
            "cbz w16, 5f",
            "adrp x16, :gottprel:pacman_omp_worker",
            "ldr x16, [x16, :gottprel_lo12:pacman_omp_worker]",
            "mrs x17, tpidr_el0",
            "ldr x16, [x17, x16]",
            "cbz x16, 5f",
            "ldr w17, [x16, #{chunks_left}]",
            "subs w17, w17, #1",
            "str w17, [x16, #{chunks_left}]",
            "b.mi 4f",
            "b 5f",
            ".cfi_endproc",
            ".size pacman_omp_chunks, . - pacman_omp_chunks",
            // Calls that matter until the real function is known.
            ".hidden pacman_omp_passed",
            ".globl pacman_omp_passed",
            ".type pacman_omp_passed, %function",
            "pacman_omp_passed:",
            ".cfi_startproc",
            "5:",
            "adrp x16, {shared}",
            "add x16, x16, :lo12:{shared}",
            "ldr x16, [x16, x15, lsl #3]",
            "cbz x16, 4f",
            "br x16",
            ".cfi_endproc",
            ".size pacman_omp_passed, . - pacman_omp_passed",
            // System calls, most of which have no meaning here.
            ".hidden pacman_omp_system_calls",
            ".globl pacman_omp_system_calls",
            ".type pacman_omp_system_calls, %function",
            "pacman_omp_system_calls:",
            ".cfi_startproc",
            "cmp x0, #{system_calls}",
            "b.hs 4f",
            "adrp x16, {meanings}",
            "add x16, x16, :lo12:{meanings}",
            "ldrb w16, [x16, x0]",
            "cbnz w16, 4f",
            "adrp x16, {next}",
            "add x16, x16, :lo12:{next}",
            "ldr x16, [x16, x15, lsl #3]",
            "cbz x16, 4f",
            "br x16",
            ".cfi_endproc",
            ".size pacman_omp_system_calls, . - pacman_omp_system_calls",
            // Calls that always matter.
            ".hidden pacman_omp_watched",
            ".globl pacman_omp_watched",
            ".type pacman_omp_watched, %function",
            "pacman_omp_watched:",
            ".cfi_startproc",
            "4:",
            "stp x29, x30, [sp, #-16]!",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset 29, -16",
            ".cfi_offset 30, -8",
            "mov x29, sp",
            ".cfi_def_cfa_register 29",
            "sub sp, sp, #208",
            "stp q0, q1, [sp]",
            "stp q2, q3, [sp, #32]",
            "stp q4, q5, [sp, #64]",
            "stp q6, q7, [sp, #96]",
            "stp x0, x1, [sp, #128]",
            "stp x2, x3, [sp, #144]",
            "stp x4, x5, [sp, #160]",
            "stp x6, x7, [sp, #176]",
            "str x8, [sp, #192]",
            "mov w0, w15",
            "add x1, sp, #128",
            "add x2, x29, #8",
            "bl {decide}",
            "mov x16, x0",
            "mov x17, x1",
            "ldp q0, q1, [sp]",
            "ldp q2, q3, [sp, #32]",
            "ldp q4, q5, [sp, #64]",
            "ldp q6, q7, [sp, #96]",
            "ldp x0, x1, [sp, #128]",
            "ldp x2, x3, [sp, #144]",
            "ldp x4, x5, [sp, #160]",
            "ldp x6, x7, [sp, #176]",
            "ldr x8, [sp, #192]",
            "mov sp, x29",
            "ldp x29, x30, [sp], #16",
            ".cfi_def_cfa 31, 0",
            ".cfi_restore 29",
            ".cfi_restore 30",
            "cbnz x17, pacman_omp_in_place",
            "br x16",
            ".cfi_endproc",
            ".size pacman_omp_watched, . - pacman_omp_watched",
            // x16: the real function, x17: the record.
            ".hidden pacman_omp_in_place",
            ".type pacman_omp_in_place, %function",
            "pacman_omp_in_place:",
            ".cfi_startproc",
            ".cfi_personality 0x1b, {left}",
            "stp x30, x19, [x17]",
            "mov x19, x17",
            // DW_CFA_expression: x19 is saved at [x19 + 8], the return address (30) at [x19].
            ".cfi_escape 0x10, 19, 2, 0x83, 8",
            ".cfi_escape 0x10, 30, 2, 0x83, 0",
            // DW_CFA_val_expression: the caller's sp (31) is sp. The frame address is a word above, because
            // unwinders know frames by it, and would take this one for the real function's.
            ".cfi_def_cfa_offset 8",
            ".cfi_escape 0x16, 31, 2, 0x8f, 0",
            "blr x16",
            ".hidden pacman_omp_returned",
            ".globl pacman_omp_returned",
            "pacman_omp_returned:",
            "ldr x30, [x19]",
            ".cfi_restore 31",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore 30",
            "stp x29, x30, [sp, #-96]!",
            ".cfi_def_cfa_offset 96",
            ".cfi_offset 29, -96",
            ".cfi_offset 30, -88",
            "mov x29, sp",
            "stp x0, x1, [sp, #16]",
            "stp q0, q1, [sp, #32]",
            "stp q2, q3, [sp, #64]",
            "mov x0, x19",
            "ldr x19, [x19, #8]",
            ".cfi_restore 19",
            "add x1, sp, #16",
            "bl {ended}",
            "ldp x0, x1, [sp, #16]",
            "ldp q0, q1, [sp, #32]",
            "ldp q2, q3, [sp, #64]",
            "ldp x29, x30, [sp], #96",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore 29",
            ".cfi_restore 30",
            "ret",
            ".cfi_endproc",
            ".size pacman_omp_in_place, . - pacman_omp_in_place",
            ".popsection",
            $($operands)*
        );
    };
}
pub(crate) use forwarding;
