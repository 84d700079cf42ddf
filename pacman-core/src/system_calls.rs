//! Whether this process may make system calls to count.

use std::sync::atomic::{AtomicBool, Ordering};

static FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// From now on the process counts without system calls: it opens no counters, and reads only those that RDPMC
/// can read. For a process that is about to filter its system calls: a filter may end it at any other call than
/// its own.
pub fn forbid() {
    FORBIDDEN.store(true, Ordering::SeqCst);
}

/// Whether [`forbid`] was called.
#[inline]
pub fn are_forbidden() -> bool {
    // ATOMICS: the flag orders nothing. The thread that sets it installs the filter afterwards, and the kernel
    // synchronises the other threads with that.
    FORBIDDEN.load(Ordering::Relaxed)
}
