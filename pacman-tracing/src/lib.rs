//! A [`tracing`](https://docs.rs/tracing) layer whose spans are phases of a session.
//!
//! [`PhaseLayer`] begins a phase where a span is entered and ends it where the span is exited, on the
//! thread that does so. The session's report has the time and the counts of every span on every thread.

mod failures;
mod layer;

pub use failures::Failures;
pub use layer::PhaseLayer;

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
