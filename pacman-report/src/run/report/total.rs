//! Sums of times.

/// The sum of times; 0 without any, where the standard library's sum is -0.
pub(in crate::run) fn total_of(times: impl Iterator<Item = f64>) -> f64 {
    times.fold(0.0, |sum, time| sum + time)
}
