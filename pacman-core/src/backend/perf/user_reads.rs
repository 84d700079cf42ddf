//! The comparison of a group's user reads with the kernel's counts, made once when the group is opened.
//!
//! A counter page promises that RDPMC reads the event, and the promise may be broken. From Panther
//! Cove on a counter can be hidden from user mode (CPUID 23H, EBX bit 2): RDPMC then reads 0 and does
//! not fault. A hypervisor may name a wrong width. Each would be a silent wrong count, so no list of
//! processors decides: the counts themselves do.

use super::page::{CounterLocations, OffCounter, Pages};
use crate::arch::extend_to;
use crate::backend::{NoUserReads, Reading};
use crate::seam::PerfSys;
use pacman_events::Result;

/// The pages of a group's events, their counters' width, and the places of its top-down events, SLOTS first.
pub(super) struct Offered<'a, S> {
    pub(super) sys: &'a S,
    pub(super) pages: Pages,
    pub(super) width: u8,
    pub(super) members: usize,
    pub(super) topdown: &'a [usize],
}

impl<S: PerfSys> Offered<'_, S> {
    /// Why the group is not read by RDPMC although its pages offer it; `None` if RDPMC agrees with the kernel, which
    /// had counted `before`.
    ///
    /// Counts only grow, so a read by RDPMC lies between `before` and a later answer of the kernel. A hidden
    /// counter reads 0, which is far outside: the kernel starts a counter at minus its largest period.
    ///
    /// # Errors
    /// Those of `read_by_call`.
    pub(super) fn obstacle(
        &self,
        before: &Reading,
        read_by_call: impl Fn(&mut Reading) -> Result<()>,
    ) -> Result<Option<NoUserReads>> {
        let mut by_rdpmc = Reading::EMPTY;
        let Some(slots) = self.read(&mut by_rdpmc) else {
            return Ok(Some(NoUserReads::OffCounters));
        };
        let places = || (0..self.members).filter(|place| !self.topdown.contains(place));
        let since = |reading: &Reading, place| reading.count_since(before, place);
        if slots != Some(0) && places().all(|place| since(&by_rdpmc, place) == 0) {
            return Ok(None);
        }
        let mut after = Reading::EMPTY;
        read_by_call(&mut after)?;
        let is_outside = |place| since(&by_rdpmc, place) > since(&after, place);
        // The kernel's read sets SLOTS to 0, and the return to the program takes slots.
        let has_no_slots = slots == Some(0) && since(&after, self.topdown[0]) > 0;
        Ok((places().any(is_outside) || has_no_slots).then_some(NoUserReads::OtherCounts))
    }

    /// Reads all members by RDPMC, and returns what the register of SLOTS holds, if it is one of them; `None` if the
    /// group is off its counters.
    fn read(&self, into: &mut Reading) -> Option<Option<u64>> {
        let locations = CounterLocations::unknown_of(self.members);
        let counts = &mut into.counts[..self.members];
        // The registers as they are: those of top-down events are no signed numbers.
        // SAFETY: the caller's thread has just opened the group, its pages are mapped, and all of them
        // offered user-mode reads.
        while !unsafe { locations.read_any(self.sys, self.pages, 64, counts) } {
            match locations.refresh(self.sys, self.pages) {
                Ok(()) => {}
                Err(OffCounter) => return None,
            }
        }
        let raw = |place: usize, count: u64| count.wrapping_sub(locations.offset(place));
        let slots = self.topdown.first().map(|place| raw(*place, counts[*place]));
        for (place, count) in counts.iter_mut().enumerate() {
            *count =
                extend_to(self.width, raw(place, *count)).wrapping_add(locations.offset(place));
        }
        Some(slots)
    }
}
