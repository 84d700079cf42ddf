//! Where threads may run, by the system calls themselves: the C library's functions of that name are
//! those that this library watches.

use libc::{c_long, cpu_set_t, pid_t};

/// So many bytes are a set.
const SIZE: usize = size_of::<cpu_set_t>();

/// The set of these contexts.
pub(super) fn with(cpus: impl IntoIterator<Item = u32>) -> cpu_set_t {
    // SAFETY: a set of bits.
    let mut set: cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus {
        // SAFETY: bits of the set; processors that it has no bit for have no mask of its size.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    }
    set
}

/// Whether a context is in it.
pub(super) fn has(set: &cpu_set_t, cpu: u32) -> bool {
    // SAFETY: a bit of the set.
    unsafe { libc::CPU_ISSET(cpu as usize, set) }
}

/// Where `thread` may run, 0 for the calling one; `None` where it has ended.
pub(super) fn of(thread: pid_t) -> Option<cpu_set_t> {
    let mut set = with([]);
    // SAFETY: a set of the size that is told.
    let told = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, c_long::from(thread), SIZE, &raw mut set)
    };
    (told > 0).then_some(set)
}

/// Has it run in `set` alone. Where that is refused it runs where it may: that is slower, not wrong.
pub(super) fn set(thread: pid_t, set: &cpu_set_t) {
    // SAFETY: as above; which thread it is, the caller knows.
    unsafe {
        libc::syscall(
            libc::SYS_sched_setaffinity,
            c_long::from(thread),
            SIZE,
            std::ptr::from_ref(set),
        );
    }
}
