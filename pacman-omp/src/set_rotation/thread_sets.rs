//! The place of a thread's [`SetCounters`].

use std::cell::Cell;
use std::ptr;

use pacman_regions::arena::SetRow;

use super::SetCounters;

/// The counters of a thread, if event sets take turns. Only the thread itself uses it.
pub(crate) struct ThreadSets(Cell<*const SetCounters>);

impl Default for ThreadSets {
    fn default() -> ThreadSets {
        ThreadSets(Cell::new(ptr::null()))
    }
}

impl ThreadSets {
    fn get(&self) -> Option<&SetCounters> {
        // SAFETY: null, or leaked by `open` and dropped by `close` alone, when the thread ends.
        unsafe { self.0.get().as_ref() }
    }

    /// Opens the counters of the calling thread.
    pub(crate) fn open(&self) {
        if let Some(counters) = SetCounters::open() {
            self.0.set(Box::into_raw(Box::new(counters)));
        }
    }

    /// Begins a part of a region at nesting `depth`.
    pub(crate) fn begin(&self, region: u32, depth: u32) {
        if let Some(counters) = self.get() {
            counters.begin(region, depth as usize);
        }
    }

    /// Ends a part of a region that took `ticks`, as number `thread` of the team.
    pub(crate) fn end(&self, region: u32, thread: u32, depth: u32, ticks: u64) {
        if let Some(counters) = self.get() {
            counters.end(region, thread, depth as usize, ticks);
        }
    }

    /// The work of a begin and an end; answers how counts are read, or `None` without counters.
    pub(crate) fn measure(&self) -> Option<&'static str> {
        let counters = self.get()?;
        counters.measure();
        Some(counters.path())
    }

    /// See [`SetCounters::empty_counts`].
    pub(crate) fn empty_counts(&self, rounds: usize) -> Vec<Option<u64>> {
        self.get().map(|counters| counters.empty_counts(rounds)).unwrap_or_default()
    }

    /// In the child of a fork: the counters are the parent's, and stay allocated.
    pub(crate) fn forget(&self) {
        self.0.set(ptr::null());
    }

    /// The thread ends: closes its counters, and answers its rows.
    pub(crate) fn close(&self) -> Vec<&'static SetRow> {
        let Some(counters) = self.get() else { return Vec::new() };
        let rows = counters.rows();
        let counters = self.0.replace(ptr::null());
        // SAFETY: leaked by `open`, and no part of this thread is open.
        drop(unsafe { Box::from_raw(counters.cast_mut()) });
        rows
    }
}
