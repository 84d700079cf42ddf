//! The metrics that come with the library.

use std::sync::LazyLock;

use super::metric::Metric;

/// The library's own metrics.
///
/// They need only the counts of one context or of one core. A name has a line for each way to count
/// it: see [`one_of_each_name`](super::one_of_each_name).
pub fn builtin() -> &'static [Metric] {
    static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let read = Metric::read_alternatives("builtin.metrics", include_str!("builtin.metrics"));
        read.expect("the file is part of the program, and a test reads it")
    });
    &METRICS
}

/// The first line of a name among [`builtin`].
///
/// ```
/// use pacman_metrics::language::named;
/// assert_eq!(named("ipc").unwrap().events(), ["INSTRUCTIONS", "CYCLES"]);
/// ```
pub fn named(name: &str) -> Option<&'static Metric> {
    builtin().iter().find(|metric| metric.name() == name)
}
