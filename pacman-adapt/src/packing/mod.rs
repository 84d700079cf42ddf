//! Decides on how many contexts the threads of a team run, while the team keeps its size.
//!
//! A sample can be cut short, so its loss is at most its allowance. A [`LossBudget`] holds the sum of all allowances
//! within a part of the run. [`Packing`] decides for one region. Both use whole nanoseconds, because the program's
//! threads may trap on floating-point arithmetic.

mod budget;
mod controller;
mod recent;

pub use budget::LossBudget;
pub use controller::{Ended, Figures, Next, Packing};
