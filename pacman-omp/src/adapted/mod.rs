//! The state of adaptation that regions, threads and teams hold. [`adapt`](crate::adapt) acts on it.
//!
//! State of a region is in [`region_state`], state of a thread in [`pool`], [`cached_decision`],
//! [`thread_binding`], [`team_affinity`] and [`wait_policy`], that of one team in [`team_choice`].

mod asked;
mod cached_decision;
mod member;
mod phase;
mod pool;
mod region_state;
mod team_affinity;
mod team_choice;
mod thread_binding;
mod useful;
mod wait_policy;

pub(crate) use asked::{Asked, runs_leagues};
pub(crate) use cached_decision::{BATCH, CachedDecision, DecidedBy, DecisionKind, NEVER};
pub(crate) use member::{has_group, leave as leave_group};
pub(crate) use phase::Phase;
pub(crate) use pool::{Change, Pool};
pub(crate) use region_state::{Adapted, OutcomeRecord};
pub(crate) use team_affinity::{TeamAffinities, TeamAffinity};
pub(crate) use team_choice::TeamChoice;
pub(crate) use thread_binding::{ThreadBinding, bind_from_now_on, has_bound, may_bind};
pub(crate) use wait_policy::WaitPolicy;
