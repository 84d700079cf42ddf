//! The simulated kernel: tasks on contexts, events on counters, time.
//!
//! It follows Linux where a driver could tell the difference: a thread's events are on the
//! counters only while it runs; a pinned group that does not fit is in error for good and reads
//! as an empty file; the others are multiplexed; a counter starts at minus the largest period, and
//! its overflow is handled at once; every change of a counter bumps the lock of its page.
//!
//! One lock covers a machine. A thread brings itself up to date, and the pages that it alone
//! reads, whenever it calls: so no page is ever written while its owner reads it.

mod background;
mod calls;
mod file;
mod page;
mod schedule;
mod state;

pub use calls::SimKernel;
pub(crate) use state::State;
