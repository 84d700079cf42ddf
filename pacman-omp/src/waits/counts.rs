//! The counts of one thread's waits, if events are counted.

use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use pacman_core::backend::{EventSums, MAX_EVENTS, Reading};

use crate::counting::{Counters, EventPlan};

/// The counts of waits in the present part. Only the thread itself uses it.
pub(super) struct WaitCounts {
    /// The counters of the part; null if the part is not counted.
    part: Cell<PartCounts>,
    /// The reading at which the open wait began.
    begun: UnsafeCell<Reading>,
    sums: EventSums,
}

/// How a part is counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartCounts {
    counters: *const Counters,
    /// A wait of the part could not be counted.
    is_lost: bool,
}

impl PartCounts {
    /// Waits are not counted.
    pub(super) const NONE: PartCounts = PartCounts::of(None);

    pub(super) const fn of(counters: Option<&Counters>) -> PartCounts {
        let counters = match counters {
            Some(counters) => ptr::from_ref(counters),
            None => ptr::null(),
        };
        PartCounts { counters, is_lost: false }
    }
}

impl Default for WaitCounts {
    fn default() -> WaitCounts {
        WaitCounts {
            part: Cell::new(PartCounts::NONE),
            begun: UnsafeCell::new(Reading::EMPTY),
            sums: [const { AtomicU64::new(0) }; MAX_EVENTS],
        }
    }
}

impl WaitCounts {
    /// Goes over to another part; answers the part before.
    #[inline]
    pub(super) fn replace(&self, part: PartCounts) -> PartCounts {
        self.part.replace(part)
    }

    #[inline(always)]
    fn counters(&self) -> Option<&Counters> {
        // SAFETY: null, or the thread's own counters, which live longer than its parts.
        unsafe { self.part.get().counters.as_ref() }
    }

    /// A wait begins, or goes on after a task. Answers whether the counters were read.
    #[inline(always)]
    pub(super) fn begin(&self) -> bool {
        let Some(counters) = self.counters() else { return false };
        // SAFETY: only this thread uses it, and `read` does not come back here.
        if !counters.read(unsafe { &mut *self.begun.get() }) {
            self.lose();
        }
        true
    }

    /// A wait ends, or a task begins inside.
    #[inline(always)]
    pub(super) fn end(&self) {
        let Some(counters) = self.counters() else { return };
        // SAFETY: as above.
        if !counters.add_since(unsafe { &*self.begun.get() }, &self.sums) {
            self.lose();
        }
    }

    #[cold]
    fn lose(&self) {
        self.part.set(PartCounts { is_lost: true, ..self.part.get() });
    }

    /// Whether the part is counted with all its waits.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        let part = self.part.get();
        !part.counters.is_null() && !part.is_lost
    }

    /// Takes the sums of the part: calls `add` with the place of each event and its count.
    #[inline]
    pub(super) fn take(&self, mut add: impl FnMut(u32, u64)) {
        if self.part.get().counters.is_null() {
            return;
        }
        let events = EventPlan::current().counted.len();
        for (place, sum) in self.sums[..events].iter().enumerate() {
            let count = sum.load(Ordering::Relaxed);
            if count != 0 {
                sum.store(0, Ordering::Relaxed);
                add(place as u32, count);
            }
        }
    }
}

impl std::fmt::Debug for WaitCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WaitCounts").field("part", &self.part).finish_non_exhaustive()
    }
}
