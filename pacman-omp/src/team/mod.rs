//! The runtime's team for one execution of a region, as its members see it: a body of ours around the program's.

mod call;
mod decision;
mod state;
mod time;

pub(crate) use call::{Call, TeamMode, mode};
pub(crate) use decision::{Chooser, Decision};
pub(crate) use state::{AdaptedRun, Team, UNKNOWN};
pub(crate) use time::TeamTime;
