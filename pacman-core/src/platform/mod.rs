//! The machine: the one that runs the program, or a simulated one.
//!
//! A [`Platform`] answers everything that differs between machines. [`current`] is the one that the
//! process counts on, chosen once; [`host`] is always the real one.
//!
//! ```
//! use pacman_core::platform;
//!
//! let machine = platform::current();
//! println!("{}: {:?}", machine.cpu_model(), machine.cpu_id());
//! assert!(machine.simulation().is_none(), "nobody has installed another machine");
//! ```
//!
//! The module lies below topology, events and backends. The decision record
//! `docs/decisions/001-platform.md` has the reasons.

mod core_types;
pub(crate) mod cpuid;
mod cpuinfo;
mod handle;
mod installed;
mod interface;
mod linux;
mod permissions;
mod pmus;

pub use core_types::CoreTypePmu;
pub(crate) use core_types::is_of_core_type;
pub use handle::PlatformRef;
pub use installed::{current, host, install};
pub use interface::Platform;
pub use pacman_topology::processors::{Layout, Linux, Processors, Simulation, ThreadBinding};
pub use permissions::{PerfPermissions, TRUST_DRIVER, trust_driver, trusts_driver};
pub use pmus::{DEVICES, pmus_in};
