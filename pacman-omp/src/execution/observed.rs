//! The team of a call whose region is observed.

use std::ptr;

use crate::region::Region;
use crate::seen::Seen;
use crate::team::{Call, Team};
use crate::worker::Worker;

/// The team of a call whose region is observed.
#[inline(always)]
pub(super) fn observed_team(call: &Call, region: &'static Region, worker: &Worker) -> Team {
    let depth = worker.depth();
    let mut team =
        Team::new(call, region.runtime, Some(region), depth, ptr::from_ref(worker).cast());
    if depth > 0 {
        worker.saw(Seen::NESTED);
        // SAFETY: the thread is inside of a body of that team, which does not end before it.
        unsafe { team.set_outer(worker.team.get()) };
    }
    team
}
