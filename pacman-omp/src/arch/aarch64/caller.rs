//! The caller's stack at an entry.

/// Where an entry was called from. An entry that [`placed`] makes gets it in the two registers after its arguments.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Stack {
    caller: u64,
    slot: usize,
}

impl Stack {
    /// The return address of the call.
    #[inline(always)]
    pub(crate) fn caller(&self) -> u64 {
        self.caller
    }

    /// The return address of the call, and the address of the slot that calls in place have for it.
    #[inline(always)]
    pub(crate) fn place(&self) -> (u64, usize) {
        (self.caller, self.slot)
    }
}

/// An entry in Rust that learns its place on the stack by the name in brackets.
macro_rules! placed {
    (
        $(#[$attribute:meta])*
        unsafe extern $abi:literal fn $name:ident(
            $($argument:ident: $type:ty),* $(,)?
        )[$stack:ident] $(-> $answer:ty)? $body:block
    ) => {
        $(#[$attribute])*
        pub unsafe extern $abi fn $name(
            $($argument: $type,)*
            $stack: $crate::arch::Stack,
        ) $(-> $answer)? $body

        const _: () =
            assert!(<[&str]>::len(&[$(stringify!($argument)),*]) + 2 <= $crate::arch::REGISTERS);

        std::arch::global_asm!(
            ".pushsection .text.pacman_omp, \"ax\", %progbits",
            ".balign 4",
            concat!(".hidden pacman_omp_entry_", stringify!($name)),
            concat!(".globl pacman_omp_entry_", stringify!($name)),
            concat!(".type pacman_omp_entry_", stringify!($name), ", %function"),
            concat!("pacman_omp_entry_", stringify!($name), ":"),
            ".cfi_startproc",
            "hint #34", // bti c
            "mov x{caller}, x30",
            "sub x{slot}, sp, #8",
            "b {entry}",
            ".cfi_endproc",
            concat!(
                ".size pacman_omp_entry_", stringify!($name),
                ", . - pacman_omp_entry_", stringify!($name),
            ),
            ".popsection",
            caller = const <[&str]>::len(&[$(stringify!($argument)),*]),
            slot = const 1 + <[&str]>::len(&[$(stringify!($argument)),*]),
            entry = sym $name,
        );
    };
}
pub(crate) use placed;
