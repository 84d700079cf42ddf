//! The plan for timing a section.

use crate::clock::ClockSource;

/// The plan for timing a section. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) source: ClockSource,
    pub(super) nanos_per_tick: f64,
    pub(super) repetitions: u32,
    pub(super) warm_up: u64,
    /// The longest time of a batch.
    pub(super) batch: u64,
}
