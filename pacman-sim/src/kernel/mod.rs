//! The simulated kernel: tasks on contexts, events on counters, time.
//!
//! It behaves as Linux if a driver could notice a difference. A thread's events are on the counters
//! only while it runs. A pinned group that does not fit is in error for ever and reads as an empty
//! file. Other groups rotate on the counters. A counter starts at minus the largest period, and its
//! overflow is handled at once. Every change of a counter increments the lock of its page.
//!
//! One lock covers a machine. A thread updates its own state and pages at each call. Only the
//! thread itself reads these pages, so a page is never written while its owner reads it.

mod background;
mod calls;
mod file;
mod machine;
mod page;
mod rotation;
mod schedule;
mod state;
mod topdown;

pub use machine::Machine;
pub(crate) use state::State;
