//! Programs that trace threads themselves.
//!
//! A thread has one tracer at a time. A debugger or a leak checker fails on threads that this process traces, so
//! such a program is not traced: the kernel counts it with all that it makes.

use std::path::Path;

use crate::elf;

/// Names in a program's table of dynamic symbols: the call itself, and the sanitizers that look for leaks.
const NAMES: [&[u8]; 4] = [b"ptrace", b"__asan_init", b"__lsan_init", b"__hwasan_init"];

/// Whether the program of a process traces threads, as far as its dynamic symbols show.
pub(super) fn traces(pid: i32) -> bool {
    elf::has_symbol(Path::new(&format!("/proc/{pid}/exe")), &NAMES).unwrap_or(false)
}
