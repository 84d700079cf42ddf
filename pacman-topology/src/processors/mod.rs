//! The machine of a topology: its online contexts, and the threads on them.
//!
//! [`current`] is the machine of this process, chosen once; [`host`] is always the real one.
//! `docs/decisions/001-platform.md` has the reasons.

mod handle;
mod installed;
mod interface;
mod linux;

pub use handle::ProcessorsRef;
pub use installed::{current, host, install};
pub use interface::{Layout, Processors, Simulation, ThreadBinding};
pub use linux::Linux;
