//! Per-thread hardware performance counters on SMT cores.

pub mod backend;
mod error;
mod event;
pub mod topology;

pub use error::{Error, ErrorKind, Result};
pub use event::Event;
pub use topology::Topology;
