//! The threads that may have countdowns for bodies of a module that is unloaded.

use std::ops::Range;
use std::ptr;

use crate::lock::Lock;
use crate::sampling::Countdowns;

/// The countdowns of all threads. In the child of a fork those of the parent's other threads stay allocated.
pub(crate) static LIVING: Lock<Vec<Living>> = Lock::new(Vec::new());

/// The countdowns of a thread that has not ended.
#[derive(Debug)]
pub(crate) struct Living(*const Countdowns);

// SAFETY: other threads call `forget_bodies` only, which uses atomics alone.
unsafe impl Send for Living {}

/// A thread begins; its countdowns stay where they are until [`leave`].
pub(super) fn enter(countdowns: &'static Countdowns) {
    LIVING.lock().push(Living(countdowns));
}

/// The thread ends.
pub(super) fn leave(countdowns: &Countdowns) {
    LIVING.lock().retain(|living| !ptr::eq(living.0, countdowns));
}

/// The bodies at `addresses` are not there any more.
pub(crate) fn forget_bodies(addresses: &Range<u64>) {
    // SAFETY: a thread leaves the list before it frees its countdowns.
    LIVING.lock().iter().for_each(|living| unsafe { (*living.0).forget_bodies(addresses) });
}
