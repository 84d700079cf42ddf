//! The hardware contexts of a machine, placements of threads on them, and bindings of threads.
//!
//! A [`Topology`] is a snapshot. It comes from this system ([`Topology::detect`]), from a copy of
//! another machine's `/sys` ([`Topology::from_sysfs`]), from hwloc ([`Topology::from_hwloc`]) or
//! from a line of text ([`Topology::synthetic`]). A [`Placement`] gives each thread of a team a
//! [`Place`], and a [`Binding`] keeps a thread there. Threads can be bound only through a topology
//! that describes this system.
//!
//! For: authors of schedulers and thread pools, and tools that bind threads.
//!
//! ```
//! use pacman_topology::{Binding, Placement, Topology};
//!
//! let here = Topology::detect()?;
//! let places = Placement::Compact.places(&here, 1)?;
//! let binding = Binding::bind(&here, &places[0])?;
//! println!("on CPU {}, next to {:?}", binding.place().cpu(), here.siblings_of(binding.place().cpu()));
//! # Ok::<(), pacman_topology::Error>(())
//! ```

mod account;
mod affinity;
mod amd_core_types;
mod assemble;
mod binding;
mod caches;
#[doc(hidden)]
pub mod cancel;
mod cgroup;
mod clocks;
mod core_type;
mod cpu_bits;
mod cpu_set;
mod detect;
pub mod energy;
mod hierarchy;
mod hwloc;
#[doc(hidden)]
pub mod input;
pub mod placement;
#[doc(hidden)]
pub mod process_files;
#[doc(hidden)]
pub mod processors;
mod restriction;
mod snapshot;
mod synthetic;
mod sysfs;
mod tree;
mod uneven;

pub use affinity::current_cpu;
pub use binding::Binding;
pub use caches::{Cache, CacheKind};
pub use clocks::ClockRates;
pub use core_type::CoreType;
pub use cpu_set::CpuSet;
pub use pacman_events::{Error, ErrorKind, Result};
pub use placement::{Place, Placement};
#[doc(hidden)]
pub use processors::ProcessorsRef;
pub use restriction::{Quota, Restriction, Restrictor, Throttling};
pub use snapshot::{Context, Core, Package, Source, Topology};

// The example of README.md is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
