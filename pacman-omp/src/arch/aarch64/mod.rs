//! AArch64 with the procedure call standard of Linux. The [README](README.md) has the registers of entries.

mod caller;
mod entries;
mod instructions;
mod stack;
mod thread_word;
mod words;

use std::ffi::{c_int, c_long};

pub(crate) use caller::{Stack, placed};
pub(crate) use entries::{forwarded, forwarding};
pub(crate) use instructions::{prefetch, system_call, wait_for_instructions};
pub(crate) use stack::{client_request, pacman_omp_on_stack};
pub(crate) use thread_word::{get_worker, set_worker};
pub(crate) use words::words;

/// The arguments of a call in registers.
pub(crate) const REGISTERS: usize = 8;

/// Words of a call of `__kmpc_fork_call` in registers, after the body.
pub(crate) const WORDS_OF_CALL: usize = 5;

/// Words of a body in registers, after the two numbers.
pub(crate) const WORDS_OF_BODY: usize = 6;

/// x19 has the record of a call in place.
pub(crate) const RECORD_REGISTER: c_int = 19;

/// The kernel has only `clone`.
pub(crate) const FORK: Option<c_long> = None;
pub(crate) const VFORK: Option<c_long> = None;
