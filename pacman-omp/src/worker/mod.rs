//! The calling thread, as a member of teams.

mod in_sets;
pub(crate) mod living;
mod ompt;
mod part_start;
mod primary;
pub(crate) mod records;
mod region_rows;
mod sampled;
mod thread;
pub(crate) mod waits;

pub(crate) use living::forget_bodies;
pub(crate) use ompt::{OmptState, Open, OpenRegion, ParallelData, Part, TimedPart};
pub(crate) use part_start::{PartStart, Started};
pub(crate) use thread::Worker;
