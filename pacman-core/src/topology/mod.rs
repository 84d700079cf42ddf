//! Which hardware contexts the machine has, and which of them share a core.
//!
//! A [`Topology`] is a snapshot. It comes from this system ([`Topology::detect`]), from a copy of
//! another machine's `/sys` ([`Topology::from_sysfs`]), from hwloc ([`Topology::from_hwloc`]) or
//! from a line of text ([`Topology::synthetic`]). Threads can be bound only through one that
//! describes this system.

mod assemble;
mod cgroup;
mod core_type;
mod cpu_bits;
mod cpu_set;
mod detect;
mod hwloc;
mod restriction;
mod snapshot;
mod synthetic;
mod sysfs;
mod tree;

pub use self::core_type::CoreType;
pub(crate) use self::cpu_bits::{CpuBits, LAST_CPU, Range};
pub use self::cpu_set::CpuSet;
pub use self::restriction::{Quota, Restriction, Restrictor};
pub use self::snapshot::{Context, Core, Package, Source, Topology};
