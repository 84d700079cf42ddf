//! What all tests share: what was skipped, waiting with a deadline, the lab, facts about this process.

mod barrier;
pub mod inject;
pub mod lab;
pub mod process;
mod skip;

pub use barrier::Barrier;
pub use skip::{Skip, skipped, skipped_part, skips};
