//! Per-thread hardware performance counters on SMT cores.
//!
//! A [`Session`] counts a set of [`Event`]s; each thread attaches itself, on a
//! hardware context of its own if a [`Placement`] says so, and marks the phases
//! it runs. A [`Report`] has the figures of each thread and phase.
//!
//! ```
//! use pacman_core::{Session, Topology, Placement};
//!
//! let session = Session::builder("doc")
//!     .events("task-clock,page-faults")
//!     .placement(Topology::detect()?, Placement::Compact)
//!     .start()?;
//! let fill = session.phase("fill")?;
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let thread = session.attach()?;
//!         thread.run(fill, || std::hint::black_box(vec![1u8; 1 << 20]))?;
//!         Ok::<(), pacman_core::Error>(())
//!     }).join().unwrap()
//! })?;
//! let report = session.report();
//! assert_eq!(report.threads[0].phases[0].executions, 1);
//! # Ok::<(), pacman_core::Error>(())
//! ```

#[doc(hidden)]
pub mod arch;
#[doc(hidden)]
pub mod atomic_write;
#[doc(hidden)]
pub mod backend;
pub mod clock;
#[doc(hidden)]
pub mod descriptor;
pub mod energy;
pub mod event;
pub mod export;
#[doc(hidden)]
pub mod floating;
#[doc(hidden)]
pub mod fork;
#[doc(hidden)]
pub mod platform;
mod plausible;
mod primitive;
mod provenance;
pub mod report;
#[doc(hidden)]
pub mod seam;
pub mod session;
mod stat;
#[doc(hidden)]
pub mod system_calls;
#[doc(hidden)]
pub mod thread_registry;

pub use event::Event;
pub use pacman_events::partition::Partition;
pub use pacman_events::{CpuModel, Error, ErrorKind, Result};
pub use pacman_topology::{self as topology, Binding, Place, Placement, Topology};
#[doc(hidden)]
pub use pacman_topology::{cancel, input};
pub use provenance::Provenance;
pub use report::Report;
pub use session::{Attached, Phase, Session};

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
