//! Affinity masks of threads.
//!
//! Direct system calls, because this library interposes the C library's functions.

use libc::{c_long, cpu_set_t, pid_t};

/// The size of a set, in bytes.
const SIZE: usize = size_of::<cpu_set_t>();

/// A set of contexts.
pub(super) fn with(cpus: impl IntoIterator<Item = u32>) -> cpu_set_t {
    // SAFETY: a plain set of bits.
    let mut set: cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus {
        // SAFETY: writes a bit of the set. The kernel has no CPUs beyond the masks that it gave.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    }
    set
}

/// Whether a context is in the set.
pub(super) fn has(set: &cpu_set_t, cpu: u32) -> bool {
    // SAFETY: a bit of the set.
    unsafe { libc::CPU_ISSET(cpu as usize, set) }
}

/// The mask of `thread`, 0 for the calling one; `None` if the thread has ended.
pub(super) fn of(thread: pid_t) -> Option<cpu_set_t> {
    let mut set = with([]);
    // SAFETY: a set of the given size.
    let written = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, c_long::from(thread), SIZE, &raw mut set)
    };
    (written > 0).then_some(set)
}

/// Sets the mask of `thread`. A refusal leaves the old mask, which is slower but correct.
pub(super) fn set(thread: pid_t, set: &cpu_set_t) {
    // SAFETY: as above; any thread of the process may be named.
    unsafe {
        libc::syscall(
            libc::SYS_sched_setaffinity,
            c_long::from(thread),
            SIZE,
            std::ptr::from_ref(set),
        );
    }
}
