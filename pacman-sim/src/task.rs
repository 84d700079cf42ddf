//! Threads of the simulated machine. Each is a real thread of this process.

use std::cell::Cell;
use std::fs;
use std::sync::Once;

/// One thread.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// The context on which it runs.
    pub(super) cpu: u32,
    /// The leaders of its groups, pinned ones first.
    pub(super) leaders: Vec<i32>,
    /// Running time on the machine, in nanoseconds.
    pub(super) ran: u64,
    /// The real CPU time that `ran` accounts for, in nanoseconds.
    pub(super) seen: u64,
    /// Retired instructions, by ring.
    pub(super) retired: [u64; 2],
    /// The number of times that another thread replaced it on its context.
    pub(super) switches: u64,
    /// The number of moves to another context.
    pub(super) migrations: u64,
}

impl Task {
    pub(super) fn new(cpu: u32, seen: u64) -> Task {
        Task { cpu, leaders: Vec::new(), ran: 0, seen, retired: [0; 2], switches: 0, migrations: 0 }
    }
}

thread_local! {
    /// The id of the thread, or 0. The value has no destructor, so it is valid until the thread ends.
    static ID: Cell<i32> = const { Cell::new(0) };
}

/// The calling thread's id.
pub(super) fn caller() -> i32 {
    if ID.get() == 0 {
        forget_after_fork();
        // SAFETY: the call has no preconditions.
        ID.set(unsafe { libc::gettid() });
    }
    ID.get()
}

/// Makes the child of a fork read its id again. With its parent's id it would continue from the parent's
/// CPU time, and count nothing until its own CPU time exceeded that.
fn forget_after_fork() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // SAFETY: the handler is a function of the program, and only writes to the thread's storage.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

extern "C" fn in_child() {
    ID.set(0);
}

/// The real CPU time of a thread, in nanoseconds. It is exact for the calling thread. For another
/// thread it ends at the last clock tick. `None` for a thread that has ended.
pub(super) fn cpu_time(tid: i32) -> Option<u64> {
    if tid == caller() {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a live timespec.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        return Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
    }
    // /proc does not list a thread that is not its process's leader, but the path exists.
    let text = fs::read_to_string(format!("/proc/{tid}/schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}
