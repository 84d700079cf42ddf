//! The overhead budget: which executions of a short region are observed.
//!
//! Observing an execution costs a time. If that is more of the region's time than the budget, the
//! executions are divided into blocks of equal length. One execution of each block is observed, at a
//! random place, and stands for the block: its figures get into the rows as often as the block is
//! long. The length is fixed before the block begins, so every execution has the same chance as the
//! others of its block, whatever the program's rhythm is. So the sums have no bias. The others
//! are counted, and run as they would without the library.

mod choose;
mod sampler;

pub(crate) use choose::{Observing, choose_next, set_begin_and_end};
pub(crate) use sampler::{DELAY, Sampler, Spent, Switches};
