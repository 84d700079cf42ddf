//! Waits of threads inside regions, and calls of MPI anywhere, timed on request.
//!
//! The functions of [`worker::waits`](crate::worker::waits) time calls, parts and tasks.
//! [`UsefulTime`] measures single parts for adaptation, without a request.
//! The state of a thread is in [`WaitState`], the
//! constructs of the process in [`sites`]. The [README](README.md) has the rules.

mod chunks;
mod company;
mod counts;
pub(crate) mod numbers;
mod phase;
mod processor;
mod requests;
pub(crate) mod roots;
pub(crate) mod sites;
mod state;
mod table;
mod thread_clock;
mod under_way;
mod useful;

pub(crate) use company::Company;
pub(crate) use phase::PhaseBegin;
pub(crate) use roots::forget_root;
pub(crate) use sites::forget as forget_sites;
pub(crate) use state::{PartKey, REPORTED, Saved, WaitState};
pub(crate) use under_way::OpenWait;
pub(crate) use useful::{PartTime, UsefulTime};
