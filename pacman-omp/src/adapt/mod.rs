//! Chooses how many threads the next execution of a region gets.
//!
//! [`decide()`] runs before a team starts, [`finished`] after it has ended. Between the two a
//! [`Controller`](pacman_adapt::Controller) for each region decides. Most executions need neither: a
//! [`CachedDecision`](crate::adapted::CachedDecision) lets them run as the one before. Regions too short to decide alone are decided as a
//! [`group`]. A team whose size the program asked for has that size; whether the program bears another
//! size of the others is not examined. With [`sharing`] no team has more threads than the share of this process.
//! [`restart_cost`] charges a region for the costs that its smaller teams cause in other regions.
//!
//! [`adapted`](crate::adapted) has the state of regions and threads, [`adapting`] the facts that all regions share.
//! With [`packed`] teams keep their sizes, and their threads are confined to fewer contexts.

mod adapting;
mod decide;
mod group;
mod hold;
mod learn;
mod memory;
mod model;
mod outcome;
pub(crate) mod packed;
mod places;
mod restart_cost;
mod sharing;

pub(crate) use adapting::leave_shared;
pub(crate) use decide::{Choice, cached, decide};
pub(crate) use learn::{ended_cached, finished, finished_alone};
pub(crate) use outcome::{enter_labelled, enter_region, record_outcome};
pub(crate) use places::mask_matters;
