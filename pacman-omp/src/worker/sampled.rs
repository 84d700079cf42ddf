//! Executions that stand for others, or are only counted.

use super::part_start::PartStart;
use super::thread::Worker;
use crate::execution_log::LoggedPart;
use crate::process;
use crate::region::Region;
use crate::rows;

impl Worker {
    /// As [`end`](Self::end), for an execution that stands for `weight` of them and counts no events.
    pub(crate) fn end_weighted(
        &self,
        begun: &PartStart,
        region: &Region,
        thread: u32,
        weight: u32,
    ) -> u64 {
        let ticks = process::between(begun.ticks, self.now());
        if let Some(seen) = self.leave(begun) {
            if region.seen.lacks(seen) {
                self.learned(region, seen, begun.around.depth() + 1);
            }
        }
        self.rows.row(region.number, thread).add_weighted(ticks, weight, rows::cpu);
        if process::is_traced() {
            let (region, begun, own_work) = (region.number, begun.ticks, begun.own_work);
            self.log.part(&LoggedPart { region, thread, begun, ticks, own_work, weight }, None);
        }
        ticks
    }

    /// Whether the thread starts an execution that is only counted, of the region whose countdown has that
    /// place. Counts it.
    #[inline(always)]
    pub(crate) fn counts_only(&self, place: usize) -> bool {
        self.countdowns.count_down(place, self.thread.get())
    }

    /// Whether there is a place for the countdown of the region.
    pub(crate) fn can_count(&self, region: &Region) -> bool {
        self.countdowns.have_place(region.body(), self.thread.get(), region.number)
    }

    /// The next `executions` of the region that the thread starts are only counted.
    pub(crate) fn count_next(&self, region: &Region, executions: u32) {
        self.countdowns.set(region.body(), self.thread.get(), region.number, executions);
    }
}
