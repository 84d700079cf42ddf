//! The state of this process at its start.
//!
//! Rust's runtime opens `/dev/null` in place of a standard stream that is closed, and ignores
//! SIGPIPE. A program that this command starts must find both as they were before.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The standard streams that were closed, a bit each.
static CLOSED: AtomicU8 = AtomicU8::new(0);
static IGNORED_PIPE: AtomicBool = AtomicBool::new(false);

/// Remembers both. This function must run before Rust's runtime begins.
pub extern "C" fn look() {
    let is_closed = |stream: &u8| {
        // SAFETY: asks about a number; nothing is changed.
        unsafe { libc::fcntl(i32::from(*stream), libc::F_GETFD) == -1 }
    };
    CLOSED.store((0..3).filter(is_closed).map(|stream| 1 << stream).sum(), Ordering::Relaxed);
    // SAFETY: an all-zero sigaction is valid, and the call only fills it.
    let ignored = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPIPE, std::ptr::null(), &raw mut action);
        action.sa_sigaction == libc::SIG_IGN
    };
    IGNORED_PIPE.store(ignored, Ordering::Relaxed);
}

/// Whether a standard stream was closed.
pub(crate) fn has_closed_streams() -> bool {
    CLOSED.load(Ordering::Relaxed) != 0
}

/// Whether standard output was closed: nothing that is written there arrives.
pub(crate) fn has_closed_output() -> bool {
    CLOSED.load(Ordering::Relaxed) & (1 << libc::STDOUT_FILENO) != 0
}

/// Whether standard error was closed: a report that is written there does not arrive.
pub(crate) fn has_closed_error() -> bool {
    CLOSED.load(Ordering::Relaxed) & (1 << libc::STDERR_FILENO) != 0
}

/// Whether SIGPIPE was ignored.
pub(crate) fn has_ignored_pipe() -> bool {
    IGNORED_PIPE.load(Ordering::Relaxed)
}

/// Restores both in a child that is about to become another program. It makes only system calls.
pub(crate) fn restore() {
    let closed = CLOSED.load(Ordering::Relaxed);
    for stream in (0..3).filter(|stream| closed & (1 << stream) != 0) {
        // SAFETY: what Rust's runtime has opened there, for this process; the child writes nothing.
        unsafe { libc::close(stream) };
    }
    let ignored = IGNORED_PIPE.load(Ordering::Relaxed);
    // SAFETY: both actions are valid.
    unsafe { libc::signal(libc::SIGPIPE, if ignored { libc::SIG_IGN } else { libc::SIG_DFL }) };
}
