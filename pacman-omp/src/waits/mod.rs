//! Waits of threads inside regions, and calls of MPI anywhere, timed on request.
//!
//! [`begin`] and [`end`] time a call in which a thread may wait, [`begin_mpi`] and [`end_mpi`] a call of MPI, and [`task()`] the tasks
//! that the thread runs meanwhile.
//! [`UsefulTime`] measures single parts for adaptation, without a request.
//! [`part`] brackets a thread's part in a region. The state of a thread is in [`WaitState`], the
//! constructs of the process in [`sites`]. The [README](README.md) has the rules.

mod chunks;
mod company;
mod counts;
pub(crate) mod numbers;
mod open_wait;
mod phase;
mod processor;
mod requests;
mod roots;
pub(crate) mod sites;
mod state;
mod table;
mod thread_clock;
mod under_way;
mod useful;
mod wait;

pub(crate) use company::Company;
pub(crate) use open_wait::OpenWait;
pub(crate) use phase::PhaseBegin;
pub(crate) use roots::forget_root;
pub(crate) use sites::forget as forget_sites;
pub(crate) use state::{PartKey, REPORTED, Saved, WaitState};
pub(crate) use useful::{PartTime, UsefulTime};
pub(crate) use wait::{
    begin, begin_chunk, begin_mpi, begin_part, end, end_chunk, end_mpi, end_part, note_root, part,
    task, unseen_task, wait,
};
