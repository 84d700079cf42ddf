//! The controller of one phase.

mod average;
mod guided;
mod held_run;
mod holding;
mod limits;
mod recalling;
mod remeasuring;
mod rules;
mod sampling;
mod state_machine;
mod tally;

pub use rules::{Rules, State};
pub use state_machine::Controller;
