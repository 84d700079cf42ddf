//! Confines the threads of a team to some contexts, while the team keeps its size. `docs/decisions/019-packing.md`
//! has the reasons, `pacman_regions::watch` the protocol with the command.
//!
//! [`before`] decides how the next execution runs and sets masks, [`after`] reports its time. [`crew`] has the threads
//! and their masks, [`state`] what is kept for a region, [`setup`] the facts of the machine.

mod crew;
mod decide;
mod member;
mod outcome;
mod setup;
mod state;

pub(crate) use crew::{end, forked, hands_on_mask, has_packed, leave, leave_slot, take_part};
pub(crate) use decide::{after, before, step_aside};
pub(crate) use member::CrewMember;
pub(crate) use outcome::adaptation;
pub(crate) use state::RegionPacking;
