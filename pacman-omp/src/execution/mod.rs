//! One execution of a region, from the call of its entry to the end of its team.

mod budget;
mod part;
mod run;
mod started;
mod target;

pub(crate) use budget::{Untimed, untimed, untimed_latest};
pub(crate) use run::{run, run_known, run_new};
pub(crate) use started::{begin, end};
