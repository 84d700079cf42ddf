//! Hardware performance counters of the threads of a program, by phase.
//!
//! [`Counters`] counts events in every thread that runs a phase. [`Report`] has the figures by name.
//!
//! ```
//! use pacman_counters::Counters;
//!
//! # fn sweep() -> u64 { (0..1000).sum() }
//! let pmu = Counters::default_events()?; // or Counters::start("CYCLES,INSTRUCTIONS")
//! let sum = pmu.count("sweep", || sweep()); // in any thread
//! println!("{pmu}");
//! assert_eq!(pmu.report().get("sweep", "task-clock")?.executions(), 1);
//! # assert_eq!(sum, 499_500);
//! # Ok::<(), pacman_counters::Error>(())
//! ```
//!
//! Each thread reads its own counters at the begin and end of a phase, without a lock, and without a system
//! call where the processor and the kernel allow it. The table shows the siblings of a core one below the
//! other. Programs that read counts while they run, log single executions, choose places or rotate sets
//! use the [`session`](Counters::session) below, of [`pacman_core`].

mod counters;
mod known;
mod report;

pub use counters::Counters;
pub use pacman_core::{Error, ErrorKind, Placement, Result};
pub use report::{Counts, Report};

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

// So are those of the project's first page.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod project_readme {}

// And those of the manual's page for Rust.
#[cfg(doctest)]
#[doc = include_str!("../../docs/count-rust.md")]
mod manual_page {}
