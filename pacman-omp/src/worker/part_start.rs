//! The start of a thread's part in a region.

use std::ptr;

use pacman_regions::arena::Nested;

use crate::counting::Counters;
use crate::nesting::NestingState;
use crate::process;
use crate::team::{Decision, Team};
use crate::waits::Saved;

/// Stands for the counters of a part whose first reading failed; no thread has them.
pub(super) const UNREAD: *const Counters = ptr::without_provenance(2 * align_of::<Counters>());

/// The start of a part: an execution of a body on this thread.
pub(crate) struct PartStart {
    pub(super) ticks: u64,
    /// The ticks of the library's own work in the part, which are before `ticks`.
    pub(super) own_work: u64,
    /// The region began at the same time.
    pub(super) shared: bool,
    /// The nesting state before the part.
    pub(super) around: NestingState,
    /// The counters that count the part, or [`UNREAD`].
    pub(super) counters: *const Counters,
}

impl PartStart {
    /// The ticks from `region`, the start of its region, to the part.
    #[inline]
    pub(crate) fn since(&self, region: u64) -> u64 {
        process::between(region, self.ticks)
    }

    /// Moves the start, so that `ticks` of the library are not in the part.
    #[inline]
    pub(crate) fn later(&mut self, ticks: u64) {
        self.own_work += ticks;
        self.ticks += ticks;
    }

    /// The time at which the part began.
    #[inline]
    pub(crate) fn at(&self) -> u64 {
        self.ticks
    }

    /// The counters that count the part.
    #[inline]
    pub(crate) fn counters(&self) -> Option<&Counters> {
        // SAFETY: any other pointer is of counters that the thread keeps until it ends.
        (self.counters != UNREAD).then(|| unsafe { &*self.counters })
    }

    /// Whether the part began when its region did.
    #[inline]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }
}

/// An execution of GCC's older interface: the primary thread runs the body itself, between two calls.
pub(crate) struct Started {
    pub(crate) team: Box<Team>,
    pub(crate) part: PartStart,
    pub(crate) nested: Nested,
    pub(crate) decision: Decision,
    /// The state of waits around the part, if they are timed.
    pub(crate) around: Option<Saved>,
    /// The team of the body around it.
    pub(crate) outer: *const Team,
}
