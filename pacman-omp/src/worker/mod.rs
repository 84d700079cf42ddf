//! The calling thread, as a member of teams.

mod dynamic_loops;
mod in_sets;
mod part_start;
mod primary;
mod region_rows;
mod sampled;
mod thread;

pub(crate) use dynamic_loops::DynamicLoops;
pub(crate) use part_start::PartStart;
pub(crate) use thread::Worker;
