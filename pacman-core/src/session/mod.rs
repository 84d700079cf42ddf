//! Sessions: a set of events, the threads that count them, and the phases they run.
//!
//! How threads see each other's counts is described in `session/README.md`.
//!
//! A program need not write its report itself. If `PACMAN_REPORT_DIR` names a directory,
//! every session writes its report there as [JSON](crate::export::json), in a file named by
//! process and session. It does so when it is closed and its threads have detached, or else
//! when the process exits. `PACMAN_REPORT_EVENTS` then adds events to those of the program, in
//! rotating sets if they do not fit at once. Only reports have these events. A session leaves
//! out events that it cannot count, with a line on standard error. Without
//! `PACMAN_REPORT_DIR` neither variable has an effect. `pacman-pmu record` uses both.

mod attached;
mod builder;
mod cells;
mod choice;
mod exit_report;
mod frames;
mod handle;
mod keeping;
mod log;
mod members;
mod memberships;
mod meter;
mod observer;
mod open;
mod patience;
mod peer;
mod prepared;
mod readings;
mod registers;
mod rotation;
mod rows;
mod sample;
mod shared;
mod slot;
mod snapshot;
mod stack;
#[cfg(all(test, not(loom)))]
mod tests;
mod thread;
mod thread_recorder;
mod uncounted;
mod wide;

pub use crate::backend::{Caps, MAX_EVENTS, ReadPath, Reading};
pub use crate::report::EventSetRotation;
pub use crate::stat::Stat;
pub use attached::{Attached, PhaseGuard};
pub use builder::SessionBuilder;
pub use handle::Session;
pub use peer::{Peer, PeerSample, SiblingPair};
pub use rotation::{MAX_ROTATED_EVENTS, events_of_one_figure, plan_event_sets};
pub use rows::MAX_PHASES;
pub use sample::Sample;
pub use shared::Phase;
pub use uncounted::Uncounted;
pub use wide::SystemWide;
