//! A [`tracing`](https://docs.rs/tracing) layer whose spans are phases of a session.
//!
//! When a thread enters a span, [`PhaseLayer`] begins a phase on that thread. When the thread exits the
//! span, the layer ends the phase. The session's report has the time and the counts of every span on every thread.

mod failures;
mod layer;

pub use failures::Failures;
pub use layer::PhaseLayer;

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
