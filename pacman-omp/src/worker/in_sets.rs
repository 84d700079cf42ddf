//! Parts that begin whether event sets take turns or not.

use super::part_start::{PartStart, UNREAD};
use super::thread::Worker;
use crate::process;
use crate::region::Region;

impl Worker {
    /// Begins the thread's part of a region; `None` stands for a region that is not observed.
    #[inline(always)]
    pub(crate) fn begin(&self, region: Option<&Region>) -> PartStart {
        match self.prepared() {
            Some(counters) => self.begin_counted(counters, None),
            None => match region.filter(|_| process::rotates_sets()) {
                Some(region) => self.begin_in_set(region),
                None => self.begin_counted((), None),
            },
        }
    }

    /// Begins a part where event sets take turns.
    pub(crate) fn begin_in_set(&self, region: &Region) -> PartStart {
        let around = self.nesting.get();
        self.sets.begin(region.number, around.depth());
        self.nesting.set(around.inside());
        PartStart { ticks: self.now(), shared: false, around, counters: UNREAD }
    }

    /// Ends a part that [`begin_in_set`](Self::begin_in_set) began.
    pub(crate) fn end_in_set(&self, begun: &PartStart, region: &Region, thread: u32) {
        let ticks = self.end(begun, region, thread);
        self.sets.end(region.number, thread, begun.around.depth(), ticks);
    }

    /// Ends a part, whether event sets take turns or not.
    pub(crate) fn end_either(&self, begun: &PartStart, region: &Region, thread: u32) {
        match process::rotates_sets() {
            true => self.end_in_set(begun, region, thread),
            false => drop(self.end(begun, region, thread)),
        }
    }
}
