//! One execution of a region: the runtime's team, with a body of ours around the program's.

mod budget;
mod call;
mod observed;
mod part;
mod run;
mod started;
mod state;
mod target;

pub(crate) use budget::{Untimed, untimed, untimed_latest};
pub(crate) use call::{Call, TeamMode, mode};
pub(crate) use run::{run, run_known, run_new};
pub(crate) use started::{begin, end};
pub(crate) use state::{Started, Team};
