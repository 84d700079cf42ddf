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

/// A metric of any event, which its expression calls `EVENT`: `per-1000-instructions`, or `per-second` of a
/// sample's time. They are about no event of their own, so [`builtin`] lacks them.
///
/// ```
/// use pacman_metrics::language::of_any_event;
/// assert_eq!(of_any_event("per-second").unwrap().expression().names(), ["EVENT", "NANOSECONDS"]);
/// ```
pub fn of_any_event(name: &str) -> Option<&'static Metric> {
    static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let read = Metric::read_all("any_event.metrics", include_str!("any_event.metrics"));
        read.expect("the file is part of the program, and a test reads it")
    });
    METRICS.iter().find(|metric| metric.name() == name)
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
