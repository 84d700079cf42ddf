//! Ranks of an MPI program whose launcher starts one command for each: their recordings in a directory
//! that all ranks share, and one report on all of them.

mod claim;
mod gather;
mod merge;

pub(super) use gather::{Gathered, Gathering};
pub(super) use merge::merge_all;
pub(crate) use merge::{MergeArgs, merge};
