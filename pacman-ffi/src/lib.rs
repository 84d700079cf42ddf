//! The C API of PACMAN: `libpacman`, declared in `include/pacman.h`.
//!
//! The header is the manual: it has the task, the units, the thread rule and the codes of each
//! function. This crate has one file for each section of the header. Other modules make the boundary
//! safe:
//!
//! - `registry` looks handles up and never dereferences them.
//! - `kept` has a thread's attachments in its own storage.
//! - `input` checks arguments before their use.
//! - [`error`] lets nothing unwind into C.
//!
//! Rust programs use `pacman-core` instead.

pub mod adapt;
pub mod error;
mod input;
mod kept;
mod machine;
mod output;
mod peer;
pub mod phase;
pub mod region;
mod registry;
pub mod report;
pub mod session;
pub mod thread;
pub mod topology;
pub mod version;

pub use registry::pacman_session;
