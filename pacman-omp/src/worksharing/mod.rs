//! The number of threads of each static loop inside one parallel region.
//!
//! A program that hoists its time loop into one region has no team sizes to adapt. But with clang every
//! thread asks libomp for its share of a static loop. The answer may be that of a smaller team: the
//! first threads share the iterations, the others get none and wait at the next barrier. README.md in
//! this folder has the protocol and its limits.

mod barrier_interval;
mod entries;
mod execution;
mod partition;
mod queries;
mod region_loops;
mod region_run;
mod ring;
mod schedule;

pub(crate) use execution::Loops;
pub(crate) use queries::{Execution, Member};
pub(crate) use region_loops::{FORCED, adapts, begin, leaves_alone, recorded, take_part};
