//! The controller of one phase.

mod decide;
mod inputs;
mod limits;
mod observe;
mod rules;
mod state;
mod value;

pub use rules::{Rules, State};
pub use state::Controller;
