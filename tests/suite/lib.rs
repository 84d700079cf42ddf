//! What the integration tests share: facts about this process, and the lab.

pub mod lab;
pub mod process;
mod skip;

pub use skip::skipped;
