//! Metrics of SMT machines, as practitioners published them.
//!
//! All functions are pure: they take differences of counts, and open no counter. They return a
//! figure with a unit, or an error that says *"… is not computable because …"*. A metric that is a
//! formula of counts is a line of the [`language`]. The modules of the others name formula, events and source.
//!
//! ```
//! let ipc = pacman_metrics::language::named("ipc").expect("it is built in");
//! let count = |event: &str| match event {
//!     "INSTRUCTIONS" => Some(3_000),
//!     "CYCLES" => Some(2_000),
//!     _ => None,
//! };
//! assert_eq!(ipc.value(count)?, 1.5);
//! # Ok::<(), pacman_metrics::Error>(())
//! ```
//!
//! - [`budget`]: the cost of stalls on cores whose contexts share the issue slots.
//! - [`language`]: metrics as text: rates, stalls, utilisation, frequencies and more; users can add their own.
//! - [`quality`]: whether a measurement of a short section can be trusted.
//! - [`slots`]: issue slots by category, and whether SMT off would pay.
//! - [`smt`]: how long no, one or several contexts of a core were active.
//! - [`tiles`]: the position of a logical CPU on a Knights Landing die.

pub mod budget;
pub mod language;
pub mod quality;
pub mod slots;
pub mod smt;
pub mod tiles;

mod not_computable;

pub use pacman_events::{Error, ErrorKind, Result};

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
