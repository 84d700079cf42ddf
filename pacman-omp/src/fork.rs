//! How the library goes through a fork.
//!
//! The child has the thread that forked, and memory as it was at that instant. So nobody may be in
//! the midst of changing a list then: its lock is held over the fork. What was counted so far is
//! the parent's; the child begins with nothing, inside of the same regions.

use parking_lot::Mutex;

use crate::counting::{self, Plan};
use crate::entry::ompt;
use crate::process;
use crate::region;
use crate::rows;
use crate::runtime;
use crate::worker::Worker;

/// A lock, whatever it is of.
trait Lock {
    fn hold(&self);

    /// # Safety
    /// The calling thread holds it, or in the child of a fork the thread that it was.
    unsafe fn let_go(&self);
}

impl<T> Lock for Mutex<T> {
    fn hold(&self) {
        std::mem::forget(self.lock());
    }

    unsafe fn let_go(&self) {
        // SAFETY: as the caller says.
        unsafe { self.force_unlock() };
    }
}

/// All locks that somebody may wait for. Whoever takes one while it has another takes them in this
/// order.
static LOCKS: [&(dyn Lock + Sync); 9] = [
    &process::LEFT,
    &process::FIRST,
    &counting::MAKING,
    &process::NOTES,
    &runtime::KNOWN,
    &region::ALL,
    &rows::LIVE,
    &rows::ENDED,
    &ompt::UNDER_WAY,
];

/// Has the C library call the functions below. It calls them for `fork` only: the child of a
/// `vfork` has its parent's memory, and nothing of this.
pub(crate) fn watch() {
    // SAFETY: functions of this library, which is never unloaded.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

unsafe extern "C" fn before() {
    LOCKS.iter().for_each(|lock| lock.hold());
}

unsafe extern "C" fn in_parent() {
    // SAFETY: `before` holds them.
    LOCKS.iter().rev().for_each(|lock| unsafe { lock.let_go() });
}

unsafe extern "C" fn in_child() {
    // SAFETY: `before` holds the locks of what is changed here, and there is no other thread.
    unsafe {
        rows::forget();
        *process::LEFT.data_ptr() = None;
        LOCKS.iter().rev().for_each(|lock| lock.let_go());
    }
    process::begin();
    Plan::forget();
    Worker::forked();
}
