//! The metrics that come with the library.

use std::sync::LazyLock;

use super::metric::Metric;

/// The library's own metrics.
///
/// They are those of [`rates`](crate::rates), [`utilisation`](crate::utilisation),
/// [`stalls`](crate::stalls), [`clockticks`](crate::clockticks) and [`slots`](crate::slots) that
/// need only the counts of one context or of one core. A name has a line for each way to count it:
/// see [`one_of_each_name`](super::one_of_each_name).
pub fn builtin() -> &'static [Metric] {
    static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let read = Metric::read_alternatives("builtin.metrics", include_str!("builtin.metrics"));
        read.expect("the file is part of the program, and a test reads it")
    });
    &METRICS
}
