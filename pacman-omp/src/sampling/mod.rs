//! The overhead budget: which executions of a short region are timed.
//!
//! Timing an execution costs time. If that is more of the region's time than the budget, its executions
//! are divided into blocks. One execution of each block, at a random place, is timed and stands for the
//! block: its figures get into the rows as often as the block is long. The length is fixed before the
//! block begins, so every execution of a block has the same chance, whatever the program's rhythm is. So
//! the sums have no bias. The other executions are counted, and run the program's own body.
//!
//! The data of a region have left the cache when it runs again. To fetch them takes more time than the
//! clock does. So an execution that is only counted touches three small tables ([`Countdowns`]), which all
//! regions of a thread share.

mod countdowns;
#[cfg(test)]
mod coverage;
mod sampler;

pub(crate) use countdowns::Countdowns;
pub(crate) use sampler::{Sampler, Timed, Untimed};
