//! The constants of the rules.

pub(super) const LEAST_DRIFT: f64 = 0.10;
pub(super) const LEAST_GAIN: f64 = 0.01;
pub(super) const VERIFIED: u32 = 3;
pub(super) const KNOWN_WELL: u32 = 5;
/// The least gain, in spreads.
pub(super) const CLEAR: f64 = 1.5;
pub(super) const CHECK_AFTER: (u64, u64) = (16, 256);
/// The part of the held cost that checks may take: half of the steady limit of the loss.
pub(super) const CHECKS: f64 = 0.005;
/// The same for searches, which find something new.
pub(super) const SEARCHES: f64 = 0.01;
/// The most executions between two of them, at any cost.
pub(super) const LONGEST: u64 = 4096;
pub(super) const REST: (u64, u64) = (20, 640);
pub(super) const NONSENSE: u32 = 3;
pub(super) const LONG: u32 = 8;

/// The least and the most executions of an average.
pub(super) const ENOUGH: u32 = 48;
pub(super) const MOST: u32 = 1024;
