//! Executions that stand for others, or whose threads are not timed.

use std::ptr;

use pacman_regions::arena::{COUNTDOWNS, Untimed};

use super::part_start::PartStart;
use super::thread::Worker;
use crate::execution_log::LoggedPart;
use crate::process;
use crate::region::Region;
use crate::rows;
use crate::sampling;
use crate::team::Team;

impl Worker {
    /// As [`end`](Self::end), for an execution that stands for `weight` of them and counts no events. If the weight
    /// is 0, the execution around it stands for it.
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
                Worker::learned(region, seen);
            }
        }
        let row = self.rows.row(region.number, thread);
        match weight {
            0 => row.add_within(begun.counters().is_some()),
            _ => row.add_weighted(ticks, weight, rows::cpu),
        }
        if process::plan().traces() {
            let (region, begun, own_work) = (region.number, begun.ticks, begun.own_work);
            self.log.part(&LoggedPart { region, thread, begun, ticks, own_work, weight }, None);
        }
        ticks
    }

    /// The place of the region's countdown, if the thread starts an execution that is not timed.
    #[inline(always)]
    pub(crate) fn untimed_at(&self, place: Option<usize>) -> Option<usize> {
        place.filter(|place| self.countdowns.is_untimed(*place, self.thread.get()))
    }

    /// Begins an execution that is not timed, inside no other. Answers its region's record.
    #[inline(always)]
    pub(crate) fn begin_untimed(&self, place: usize) -> &'static Untimed {
        self.open_region();
        self.starting.set(1 | (place as u32 + 1) << UNTIMED);
        &self.thread.get().untimed()[place]
    }

    /// Ends it after `ticks` from `begun` on.
    #[inline(always)]
    pub(crate) fn end_untimed(&self, untimed: &'static Untimed, begun: u64) {
        let ticks = self.now().wrapping_sub(begun);
        self.starting.set(0);
        let thread = self.thread.get();
        let offset = ptr::from_ref(untimed).addr().wrapping_sub(thread.untimed().as_ptr().addr());
        let place = offset / size_of::<Untimed>();
        // The child of a fork has another record. The execution is its parent's.
        if place < COUNTDOWNS {
            untimed.add(ticks);
            if !self.countdowns.is_usual(place, ticks) {
                self.note_untimed(place, begun, ticks);
            }
        }
        self.close_region();
    }

    /// An execution that is not timed was the shortest or longest so far. A long one is in the timeline by itself.
    #[cold]
    #[inline(never)]
    fn note_untimed(&self, place: usize, begun: u64, ticks: u64) {
        let thread = self.thread.get();
        if self.countdowns.note(place, ticks, thread) {
            let Some(region) = thread.untimed()[place].region() else { return };
            let (_, since) = process::own(begun);
            self.rows.put_untimed(region, (since, since + ticks), ticks);
        }
    }

    /// Whether the thread is inside an execution that is not timed, and in no body of this library inside of it.
    #[inline(always)]
    pub(crate) fn is_untimed(&self) -> bool {
        self.starting.get() >> UNTIMED != 0
    }

    /// The region of the execution that is not timed and that the thread is inside. From now on it is timed always,
    /// because it has regions inside.
    pub(crate) fn untimed_region(&self) -> Option<u32> {
        let place = (self.starting.get() >> UNTIMED).checked_sub(1)? as usize;
        self.countdowns.end(place);
        self.thread.get().untimed().get(place)?.region()
    }

    /// Runs `inside`, a region inside of an execution that is not timed, as one inside of the body of `team`.
    pub(crate) fn run_inside(&self, team: *const Team, inside: impl FnOnce()) {
        let starting = self.starting.replace(0);
        let around = self.nesting.get();
        self.nesting.set(around.inside());
        let outer = self.team.replace(team);
        inside();
        self.team.set(outer);
        self.nesting.set(around);
        self.starting.set(starting);
    }

    /// The executions of a region that were not timed so far.
    pub(crate) fn untimed(&self, region: &Region) -> sampling::Untimed {
        let place = self.countdowns.place(region.body());
        let own = place.map(|place| &self.thread.get().untimed()[place]);
        own.map_or_else(Default::default, |own| sampling::Untimed {
            executions: own.executions(),
            ticks: own.ticks(),
            unlike: own.unlike(),
        })
    }

    /// Whether there is a place for the countdown of the region.
    pub(crate) fn can_count(&self, region: &Region) -> bool {
        self.countdowns.have_place(region.body(), self.thread.get(), region.number)
    }

    /// The next executions of the region that the thread starts are not timed. A timed one stands for none above
    /// `limit` ticks.
    pub(crate) fn count_next(&self, region: &Region, executions: u32, limit: u64) {
        let until = (executions, limit);
        self.countdowns.set(region.body(), self.thread.get(), region.number, until);
    }

    /// The number of the thread's record.
    pub(crate) fn starter(&self) -> u32 {
        self.thread.get().number()
    }
}

/// The bits of [`Worker::starting`] below those for an execution that is not timed.
const UNTIMED: u32 = 16;
