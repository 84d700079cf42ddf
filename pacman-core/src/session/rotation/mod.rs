//! Sets of events that rotate on the counters.
//!
//! A session whose events do not fit at once has several sets; each outermost
//! execution of a phase counts one of them. [`plan`](Sets::plan) makes the sets,
//! [`SetScheduler`] is the owner's side, and [`RotatingStats`] the side that other threads see.

mod by_kernel;
mod figures;
mod plan;
mod set_scheduler;
mod set_stats;
mod sets;

pub use by_kernel::plan_event_sets;
pub use figures::events_of_one_figure;
pub(super) use plan::{Room, advise, is_lack_of_room};
pub(super) use set_scheduler::{ByPlace, SetScheduler, no_such_set};
pub(crate) use set_stats::{RotatingStats, SetStats};
pub(super) use sets::Epoch;
pub use sets::MAX_ROTATED_EVENTS;
pub(crate) use sets::Sets;
