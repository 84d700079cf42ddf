//! x86-64 with the System V calling convention. The [README](README.md) has the prologues of entries.

mod caller;
mod entries;
mod instructions;
mod prologue;
mod stack;
mod thread_word;
mod words;

use std::ffi::{c_int, c_long};

pub(crate) use caller::{Stack, placed};
pub(crate) use entries::{forwarded, forwarding};
pub(crate) use instructions::{prefetch, system_call, wait_for_instructions};
pub(crate) use prologue::prologue_undone;
pub(crate) use stack::{client_request, pacman_omp_on_stack};
pub(crate) use thread_word::{get_worker, set_worker};
pub(crate) use words::words;

/// The arguments of a call in registers.
pub(crate) const REGISTERS: usize = 6;

/// Words of a call of `__kmpc_fork_call` in registers, after the body.
pub(crate) const WORDS_OF_CALL: usize = 3;

/// Words of a body in registers, after the two numbers.
pub(crate) const WORDS_OF_BODY: usize = 4;

/// rbx has the record of a call in place.
pub(crate) const RECORD_REGISTER: c_int = 3;

pub(crate) const FORK: Option<c_long> = Some(libc::SYS_fork);
pub(crate) const VFORK: Option<c_long> = Some(libc::SYS_vfork);
