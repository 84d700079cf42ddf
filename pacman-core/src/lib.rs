//! Per-thread hardware performance counters on SMT cores.

pub mod bind;
mod error;
pub mod placement;
pub mod topology;

pub use bind::Binding;
pub use error::{Error, ErrorKind, Result};
pub use placement::{Place, Placement};
pub use topology::Topology;
