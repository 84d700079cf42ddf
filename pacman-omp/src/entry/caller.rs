//! Where the caller of an entry goes on.

use std::arch::asm;

/// What the caller has on its stack behind the return address: the arguments from the seventh on.
///
/// The System V ABI passes a structure of more than 16 bytes in just that place. So an entry that
/// declares one there finds those arguments in it, if it has any, and right before it the return
/// address.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Stack {
    /// The seventh argument and those after it, if the function has so many.
    pub(crate) words: [u64; 3],
}

impl Stack {
    /// Where the caller goes on.
    #[inline(always)]
    pub(crate) fn caller(&self) -> u64 {
        let caller: u64;
        // SAFETY: reads the word before the arguments on the stack. A compiler that copied them
        // elsewhere on it would have another word read: loops would be taken for each other,
        // which `a_loop_is_known_by_its_caller` would notice.
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
}
