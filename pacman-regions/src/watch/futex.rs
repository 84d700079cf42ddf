//! Waits for a word in memory that several processes have.

use std::ptr;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Wakes all that wait for a change of `word`.
pub(super) fn wake(word: &AtomicU64) {
    // SAFETY: the low half of a live word, which is first in memory.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX);
    }
}

/// Waits until the low half of `word` is not `seen` any more, a thread wakes the waiters, or `most` has passed.
pub(super) fn wait(word: &AtomicU64, seen: u32, most: Duration) {
    let most = libc::timespec {
        tv_sec: most.as_secs() as libc::time_t,
        tv_nsec: most.subsec_nanos().into(),
    };
    // SAFETY: as above, with a time of the kernel's form.
    unsafe {
        let none = ptr::null::<u32>();
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT,
            seen,
            &raw const most,
            none,
        );
    }
}
