//! Simulated machines below the operating system's seams.
//!
//! A [`Machine`] has cores with the performance-monitoring registers of a Pentium 4, of Intel's
//! or of AMD's processors ([`hardware`]), a kernel that puts events on them as Linux does, and
//! programs that run on its contexts. It implements [`PerfSys`](pacman_core::backend::perf::PerfSys)
//! and [`MsrIo`](pacman_core::backend::msr::MsrIo), so that the real drivers run on it unchanged: to
//! see what counting looks like on a machine that is not at hand, and to meet every fault that
//! a real one has once in a year.
//!
//! A thread of this process *is* a thread of the simulated machine, from its first call. What
//! it executes there is told in one of two ways:
//!
//! - On a [live](Machine::live) machine a thread executes for as long as it really uses its
//!   processor: a made-up integer program at the machine's clock. Counts then follow the CPU
//!   time, and say nothing about the program.
//! - On a [scripted](Machine::scripted) machine nothing happens but what the thread says:
//!   [`execute`](Machine::execute), [`inject_event`](Machine::inject_event). Counts are then known exactly.
//!
//! A process counts on a live machine after [`install`] or [`simulate`]; a session counts on any
//! machine that its builder names:
//!
//! ```
//! use pacman_sim::Machine;
//! use pacman_core::Session;
//!
//! let machine = Machine::scripted("p4")?;
//! let session = Session::builder("doc-sim").on(&machine).events("INSTRUCTIONS").start()?;
//! let work = session.phase("work")?;
//! let thread = session.attach()?;
//! thread.run(work, || machine.execute(1000))?;
//! assert_eq!(session.report().threads[0].phases[0].counts[0].raw.sum, 1000);
//! # Ok::<(), pacman_core::Error>(())
//! ```
//!
//! For: authors of drivers, and continuous integration on machines without counters.

mod background;
mod error;
mod fault;
#[doc(hidden)]
pub mod hardware;
mod install;
mod kernel;
mod machine;
mod machines;
mod platform;
mod registers;
mod task;
mod workload;

pub use background::CoreActivity;
pub use error::{Error, ErrorKind, Result};
pub use fault::Fault;
pub use install::{install, simulate};
pub use kernel::SimKernel;
pub use machine::Machine;
pub use registers::SimMsr;

// The example of README.md is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
