//! The caller's stack at an entry.

use std::arch::asm;

/// The words behind the return address on the caller's stack: the arguments from the seventh on.
///
/// The System V ABI passes a structure of more than 16 bytes in that place. So an entry that declares
/// one finds its stack arguments there, and the return address right before it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Stack {
    /// The arguments from the seventh on, if the function has them.
    pub(crate) words: [u64; 3],
}

impl Stack {
    /// The return address of the call.
    #[inline(always)]
    pub(crate) fn caller(&self) -> u64 {
        let caller: u64;
        // SAFETY: reads the word before the arguments on the stack. If a compiler copied them elsewhere
        // on the stack, this would read another word and confuse loops, which the test
        // `a_loop_is_known_by_its_caller` would show.
        unsafe {
            asm!(
                "mov {caller}, [{stack} - 8]",
                caller = out(reg) caller,
                stack = in(reg) &raw const *self,
                options(nostack, readonly, preserves_flags)
            );
        }
        caller
    }

    /// The return address of the call, and the address of the slot that has it.
    #[inline(always)]
    pub(crate) fn place(&self) -> (u64, usize) {
        (self.caller(), (&raw const *self).addr() - size_of::<u64>())
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
        #[unsafe(export_name = concat!("pacman_omp_entry_", stringify!($name)))]
        pub unsafe extern $abi fn $name(
            $($argument: $type,)*
            $stack: $crate::arch::Stack,
        ) $(-> $answer)? $body
    };
}
pub(crate) use placed;
