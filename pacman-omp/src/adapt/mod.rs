//! Chooses how many threads the next execution of a region gets.
//!
//! [`decide()`] runs before a team starts, [`finished`] after it has ended. Between the two a
//! [`Controller`](pacman_adapt::Controller) for each region decides. Most executions need neither: a
//! [`CachedDecision`] lets them run as the one before. Regions too short to decide alone are decided as a
//! [`group`]. A team whose size the program [asked](asked) for has that size; whether the program bears another
//! size of the others is not examined. With [`sharing`] no team has more threads than the share of this process.
//! [`restart_cost`] charges a region for the costs that its smaller teams cause in other regions.
//!
//! State of a region is in [`state`], state of a thread in [`pool`], [`thread_binding`],
//! [`team_affinity`] and [`wait_policy`]. [`adapting`] has the facts that all regions share.

mod adapting;
mod asked;
mod cached_decision;
mod choice;
mod decide;
mod group;
mod hold;
mod learn;
mod member;
mod memory;
mod model;
mod outcome;
mod phase;
mod places;
mod pool;
mod restart_cost;
mod sharing;
mod state;
mod team_affinity;
mod team_choice;
mod thread_binding;
mod useful;
mod wait_policy;

pub(crate) use adapting::leave_shared;
pub(crate) use asked::runs_leagues;
pub(crate) use cached_decision::CachedDecision;
pub(crate) use choice::Choice;
pub(crate) use decide::{cached, decide};
pub(crate) use learn::{finished, finished_alone, finished_cached};
pub(crate) use member::leave as leave_group;
pub(crate) use outcome::{enter_labelled, enter_region, record_outcome};
pub(crate) use places::mask_matters;
pub(crate) use pool::Pool;
pub(crate) use state::Adapted;
pub(crate) use team_affinity::TeamAffinities;
pub(crate) use team_choice::TeamChoice;
pub(crate) use thread_binding::{ThreadBinding, has_bound};
pub(crate) use useful::TeamTime;
pub(crate) use wait_policy::WaitPolicy;
