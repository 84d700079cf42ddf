//! Threads of the simulated machine: real ones, seen from below.

use std::cell::Cell;
use std::fs;

/// One thread.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// The context that it runs on, whenever it runs.
    pub(super) cpu: u32,
    /// Its group leaders, pinned ones first.
    pub(super) leaders: Vec<i32>,
    /// Nanoseconds of running that the machine has let pass.
    pub(super) ran: u64,
    /// The real CPU time that these stand for.
    pub(super) seen: u64,
    /// Instructions, by ring.
    pub(super) retired: [u64; 2],
    /// Times it was taken off its context for another.
    pub(super) switches: u64,
    /// Times it went to another context.
    pub(super) migrations: u64,
}

impl Task {
    pub(super) fn new(cpu: u32, seen: u64) -> Task {
        Task { cpu, leaders: Vec::new(), ran: 0, seen, retired: [0; 2], switches: 0, migrations: 0 }
    }
}

/// The calling thread's id.
pub(super) fn caller() -> i32 {
    thread_local!(static ID: Cell<i32> = const { Cell::new(0) });
    // Without a destructor: always there.
    if ID.get() == 0 {
        // SAFETY: the call has no preconditions.
        ID.set(unsafe { libc::gettid() });
    }
    ID.get()
}

/// The real CPU time of a thread in nanoseconds: to the moment for the caller, to its last
/// clock tick for another; `None` for one that is gone.
pub(super) fn cpu_time(tid: i32) -> Option<u64> {
    if tid == caller() {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a live timespec.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        return Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
    }
    // A thread that does not lead its process is not listed below /proc, but found there.
    let text = fs::read_to_string(format!("/proc/{tid}/schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}
