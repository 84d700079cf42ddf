//! The metrics that come with the library.

use std::sync::LazyLock;

use super::metric::Metric;

/// The library's own metrics.
///
/// They are those of [`rates`](crate::rates), [`utilisation`](crate::utilisation),
/// [`stalls`](crate::stalls) and [`clockticks`](crate::clockticks) that need only the counts of
/// one context.
pub fn builtin() -> &'static [Metric] {
    static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let read = Metric::read_all("builtin.metrics", include_str!("builtin.metrics"));
        read.expect("the file is part of the program, and a test reads it")
    });
    &METRICS
}
