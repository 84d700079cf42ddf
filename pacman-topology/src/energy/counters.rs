//! The source of a [`Rapl`](super::Rapl): one counter for each package.

use std::fmt;

use pacman_events::Result;

/// The energy counters of all packages.
///
/// `pacman-adapt` has those of Linux's powercap, `pacman-core` those of the perf PMU `power`.
pub trait EnergyCounters: fmt::Debug + Send + Sync {
    /// The interface in use, in one word.
    fn source(&self) -> &'static str;

    /// The joules of one count.
    fn unit(&self) -> f64;

    /// The counts after which each counter is back where it was: one more than its largest value.
    fn periods(&self) -> Vec<u128>;

    /// Reads all counters, in the order of [`periods`](Self::periods).
    ///
    /// # Errors
    /// [`ErrorKind::System`](crate::ErrorKind::System) or
    /// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if a counter can no longer be read.
    fn read(&self) -> Result<Vec<u64>>;
}
