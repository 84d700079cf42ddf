//! How a section is to be timed.

use crate::clock::ClockSource;

/// How a section is to be timed; times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) source: ClockSource,
    pub(super) nanos_per_tick: f64,
    pub(super) repetitions: u32,
    pub(super) warm_up: u64,
    /// How long a batch may take.
    pub(super) batch: u64,
}
