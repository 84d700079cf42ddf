//! Confines the threads of a team to some contexts, while the team keeps its size. `docs/decisions/019-packing.md`
//! has the reasons, `pacman_regions::watch` the protocol with the command.
//!
//! [`adapt`](crate::adapt) decides how the next execution runs, sets masks and learns from its time. [`crew`] has the
//! threads and their masks, [`state`] what is kept for a region and for a thread, [`setup`] the facts of the machine.

pub(crate) mod crew;
mod outcome;
pub(crate) mod setup;
mod state;

pub(crate) use crew::{
    end, forked, hands_on_mask, has_packed, leave, leave_slot, starts_teams, take_part,
};
pub(crate) use outcome::adaptation;
pub(crate) use state::{CrewMember, Decided, RegionPacking, Target};
