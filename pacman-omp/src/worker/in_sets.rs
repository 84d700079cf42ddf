//! Parts that begin whether event sets take turns or not.

use super::part_start::{PartStart, UNREAD};
use super::thread::Worker;
use crate::execution_log::LoggedPart;
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
        let (own_work, shared) = (0, false);
        PartStart { ticks: self.now(), own_work, shared, around, counters: UNREAD }
    }

    /// Ends a part that [`begin_in_set`](Self::begin_in_set) began.
    pub(crate) fn end_in_set(&self, begun: &PartStart, region: &Region, thread: u32) {
        let ticks = match process::is_traced() {
            true => self.end_logged(begun, region, thread),
            false => self.end(begun, region, thread),
        };
        self.sets.end(region.number, thread, begun.around.depth(), ticks);
    }

    /// Ends a part, whether event sets take turns or not.
    pub(crate) fn end_either(&self, begun: &PartStart, region: &Region, thread: u32) {
        match process::rotates_sets() {
            true => self.end_in_set(begun, region, thread),
            false if process::is_traced() => drop(self.end_logged(begun, region, thread)),
            false => drop(self.end(begun, region, thread)),
        }
    }

    /// Ends a part as [`end`](Self::end) does, and logs it.
    pub(crate) fn end_logged(&self, begun: &PartStart, region: &Region, thread: u32) -> u64 {
        let row = self.rows.row(region.number, thread);
        let before = row.sums();
        let ticks = self.end(begun, region, thread);
        let (region, begun, own_work) = (region.number, begun.ticks, begun.own_work);
        let part = LoggedPart { region, thread, begun, ticks, own_work, weight: 1 };
        self.log.part(&part, Some(&[before, row.sums()]));
        ticks
    }
}
