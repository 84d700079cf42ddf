//! Waits of threads inside regions, and calls of MPI anywhere, timed on request.
//!
//! [`wait()`] times a call in which a thread may wait, [`mpi()`] a call of MPI, and [`task()`] the tasks
//! that the thread runs meanwhile.
//! [`UsefulTime`] measures single parts for adaptation, without a request.
//! [`part`] brackets a thread's part in a region. The state of a thread is in [`WaitState`], the
//! constructs of the process in [`sites`]. The [README](README.md) has the rules.

mod company;
mod counts;
pub(crate) mod numbers;
mod open_wait;
mod processor;
mod roots;
pub(crate) mod sites;
mod state;
mod table;
mod thread_clock;
mod useful;
mod wait;

pub(crate) use company::Company;
pub(crate) use roots::forget_root;
pub(crate) use state::{PartKey, PhaseBegin, REPORTED, Saved, WaitState};
pub(crate) use useful::{PartTime, UsefulTime};
pub(crate) use wait::{begin_part, end_part, mpi, note_root, part, task, unseen_task, wait};
