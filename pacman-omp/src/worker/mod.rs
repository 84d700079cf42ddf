//! The calling thread, as a member of teams.

mod in_sets;
pub(crate) mod living;
mod part_start;
mod primary;
mod region_rows;
mod sampled;
mod thread;

pub(crate) use living::forget_bodies;
pub(crate) use part_start::PartStart;
pub(crate) use thread::Worker;
