//! Sets of events that take turns on the counters.
//!
//! A session whose events do not fit at once has several sets; each outermost
//! execution of a phase counts one of them. [`plan`](Sets::plan) makes the sets,
//! [`Rota`] is the owner's side, [`Tallies`] what others see.

mod plan;
mod rota;
mod sets;
mod tally;

pub(super) use plan::{Room, advise, is_lack_of_room};
pub(super) use rota::{ByPlace, Rota};
pub use sets::MAX_EVENTS_IN_TURNS;
pub(crate) use sets::Sets;
pub(super) use sets::Turn;
pub(crate) use tally::{Tallies, Tally};
