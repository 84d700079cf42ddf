//! Per-thread hardware performance counters on SMT cores.

mod error;
pub mod topology;

pub use error::{Error, ErrorKind, Result};
pub use topology::Topology;
