//! Simulated machines below the operating system's seams.
//!
//! A [`Machine`] has cores with the performance-monitoring registers ([`hardware`]) of a Pentium 4,
//! or of a later Intel or AMD processor. Its kernel puts events on the counters as Linux does, and
//! programs run on its contexts. It implements [`PerfSys`](pacman_core::backend::perf::PerfSys) and
//! [`MsrIo`](pacman_core::backend::msr::MsrIo), so the real drivers run on it unchanged. Use it to
//! count on a machine that you do not have, and to test faults that real machines show once a year.
//!
//! From its first call, a thread of this process *is* a thread of the simulated machine. There are
//! two ways to say which instructions it executes there:
//!
//! - On a [live](Machine::live) machine a thread executes an invented integer program at the
//!   machine's clock, during the CPU time that the thread really uses. Counts then follow the CPU
//!   time, and have no relation to the real program.
//! - On a [scripted](Machine::scripted) machine a thread executes only what its calls request:
//!   [`execute`](Machine::execute), [`inject_event`](Machine::inject_event). Counts are then known
//!   exactly.
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
//! The crate is for authors of drivers, and for continuous integration on machines without
//! counters.

mod background;
mod fault;
#[doc(hidden)]
pub mod hardware;
mod install;
mod kernel;
mod machines;
mod platform;
mod registers;
mod task;
mod workload;

pub use background::CoreActivity;
pub use fault::Fault;
pub use install::{install, simulate};
pub use kernel::Machine;
pub use pacman_events::{Error, ErrorKind, Result};

// The example of README.md is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
