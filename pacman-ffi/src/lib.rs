//! The C API of PACMAN: `libpacman`, declared in `include/pacman.h`.
//!
//! The header is the manual: what each function does, its units, thread rule and
//! codes. Here is one file per section of the header, and under them what makes
//! the boundary safe: handles are numbers that are looked up and never followed
//! (`registry`), a thread's attachments stay in its own storage (`kept`), what
//! comes in is checked before use (`input`), and nothing unwinds into C
//! ([`error`]).
//!
//! Rust programs want `pacman-core` instead.

pub mod adapt;
pub mod error;
mod input;
mod kept;
mod machine;
mod output;
mod peer;
pub mod phase;
mod registry;
pub mod report;
pub mod session;
pub mod thread;
pub mod topology;
pub mod version;

pub use registry::pacman_session;
