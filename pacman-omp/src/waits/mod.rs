//! Waits of threads inside regions, timed on request.
//!
//! [`wait()`] times a call in which a thread may wait, and [`task()`] the tasks that it runs meanwhile.
//! [`part`] brackets a thread's part in a region. The state of a thread is in [`WaitState`], the
//! constructs of the process in [`sites`]. The [README](README.md) has the rules.

pub(crate) mod sites;
mod state;
mod table;
mod wait;

pub(crate) use state::{PartKey, REPORTED, Saved, WaitState};
pub(crate) use wait::{
    begin_part, end_part, forget_root, note_root, part, task, unseen_task, wait,
};
