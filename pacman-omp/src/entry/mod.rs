//! The functions that the program finds instead of its runtime's.
//!
//! Most start a team ([`gomp`], [`kmpc`]). The others are only watched: the program's questions
//! ([`numbers`]), and everything else that tells something ([`watched`]), the ways out of the
//! process among it.

// The loader finds them; nobody in this crate does.
#![allow(unreachable_pub)]

mod caller;
mod gomp;
mod kmpc;
mod numbers;
pub(crate) mod ompt;
mod watched;

pub(crate) use caller::Stack;

/// Assembly that takes back what a compiler has pushed before an entry's only instructions, the
/// first of which is at `r10`; README.md in this folder says what that may be.
macro_rules! prologue_undone {
    () => {
        "cmp dword ptr [r10 - 4], 0xe5894855
        jne 2f
        pop rbp
        2:
        cmp byte ptr [r10 - 1], 0x50
        jne 3f
        test r10b, 14
        jnz 3f
        lea rsp, [rsp + 8]
        3:"
    };
}
pub(crate) use prologue_undone;
