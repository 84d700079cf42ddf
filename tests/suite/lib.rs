//! Shared by all tests: skipped parts, waiting with a deadline, the lab, facts about this process.

mod barrier;
pub mod browser;
pub mod command;
pub mod inject;
#[cfg(loom)]
mod interleave;
pub mod lab;
pub mod process;
mod quota_group;
mod skip;
mod snapshot;
mod unwind;

pub use barrier::Barrier;
#[cfg(loom)]
pub use interleave::interleave;
pub use quota_group::QuotaGroup;
pub use skip::{Skip, skipped, skipped_part, skips};
pub use snapshot::{Texts, snapshot};
