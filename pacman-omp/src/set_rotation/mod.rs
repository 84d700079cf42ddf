//! Event sets that take turns on a thread's counters, where events do not fit at once.
//!
//! A thread changes the set at the start of an outermost part. [`SetOrder`] chooses the executions of a
//! region for each set. [`SetCounters`] changes the set, reads the counters and adds to the rows of
//! regions. Parts inside of others count the set of the outermost one.
//!
//! [`TeamMode::Rotating`](crate::team::TeamMode) has a body of its own, so that other programs pay
//! nothing for this.

mod counters;
#[cfg(test)]
mod coverage;
mod set_order;
mod thread_sets;

pub(crate) use counters::SetCounters;
use set_order::SetOrder;
pub(crate) use thread_sets::ThreadSets;
