//! The atomics that the concurrent protocols of this crate are written in.
//!
//! Under `--cfg loom` they are loom's, which tries every interleaving; the
//! protocols import from here alone, so that the code checked is the code run.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Tells the machine (or loom) that this thread waits for another.
#[inline]
pub(crate) fn relax() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::hint::spin_loop();
}
