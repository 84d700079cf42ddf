//! The parts of the library that depend on the architecture: assembly, and the numbers of the calling convention.
//!
//! Everything else is the same code on all. An architecture is a folder that gives:
//!
//! | item | what it is |
//! |---|---|
//! | [`forwarded!`] | the entry of a function whose calls go on as they came |
//! | [`forwarding!`] | the code to which these entries jump, and calls in place |
//! | [`words!`] | the entry of `__kmpc_fork_call`, and `pacman_omp_invoke`, which passes any number of words |
//! | [`placed!`], [`Stack`] | an entry in Rust that learns its return address |
//! | [`get_worker`], [`set_worker`] | the word of thread-local storage in the preloaded library; in tests the word itself |
//! | [`pacman_omp_on_stack`] | a call on another stack |
//! | [`client_request`] | a request to valgrind |
//! | [`system_call`] | a system call without the C library, which would set `errno` |
//! | [`prefetch`], [`wait_for_instructions`] | single instructions |
//! | [`REGISTERS`] | how many arguments a call has in registers |
//! | [`WORDS_OF_CALL`], [`WORDS_OF_BODY`] | of these, words of a call of `__kmpc_fork_call`, and of a body |
//! | [`RECORD_REGISTER`] | the unwinder's number of the register that has the record of a call in place |
//! | [`FORK`], [`VFORK`] | system calls that only some have |
//!
//! The preloaded library has its own: `stub/arch`. The README of each folder has what is peculiar to it.
//! Tests of a protocol between threads (loom's models) hold on all: no protocol relies on x86's order of memory.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;
