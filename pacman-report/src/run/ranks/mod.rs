//! Ranks of an MPI program whose recordings are in files of their own, and one report on all of them.

mod groups;
mod merged;
mod rank_file;

pub use merged::{Merged, Ranks};
pub use rank_file::{EXTENSION, RankReader, RankRun};
