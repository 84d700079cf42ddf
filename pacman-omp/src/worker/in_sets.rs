//! Parts by the mode of their team, and those where event sets take turns.

use super::part_start::{PartStart, UNREAD};
use super::thread::Worker;
use crate::execution_log::LoggedPart;
use crate::process;
use crate::region::Region;
use crate::team::TeamMode;

impl Worker {
    /// Begins the thread's part of a region whose team runs in `mode`; without one it is not observed.
    pub(crate) fn begin_as(&self, mode: TeamMode, region: Option<&Region>) -> PartStart {
        match (self.prepared(), region) {
            (Some(counters), _) => self.begin_counted(counters, None),
            (None, Some(region)) if mode == TeamMode::Rotating => self.begin_in_set(region),
            (None, _) => self.begin_counted((), None),
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
    pub(crate) fn end_in_set(&self, begun: &PartStart, region: &Region, thread: u32) -> u64 {
        let ticks = match process::plan().traces() {
            true => self.end_logged(begun, region, thread),
            false => self.end(begun, region, thread),
        };
        self.sets.end(region.number, thread, begun.around.depth(), ticks);
        ticks
    }

    /// Ends a part that [`begin_as`](Self::begin_as) began. The execution is the only one that it stands for, or inside
    /// of another one that has its time.
    pub(crate) fn end_as(&self, mode: TeamMode, begun: &PartStart, region: &Region, thread: u32) {
        match mode {
            TeamMode::Sampled => self.end_weighted(begun, region, thread, 0),
            TeamMode::Rotating => self.end_in_set(begun, region, thread),
            TeamMode::Traced => self.end_logged(begun, region, thread),
            _ => self.end(begun, region, thread),
        };
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
