//! One definition for each name: processors count the same metric by different events.

use super::metric::Metric;

/// One metric for each name, in the order of `metrics`.
///
/// It is the first of its name that is `usable`, else the first.
///
/// ```
/// use pacman_metrics::language::{builtin, one_of_each_name};
///
/// let old = |event: &str| event.starts_with("UOPS_RETIRED") || event.starts_with("CPU_CLK");
/// let chosen = one_of_each_name(builtin(), |metric| metric.events().into_iter().all(old));
/// let retiring = chosen.iter().find(|metric| metric.name() == "topdown-retiring").unwrap();
/// assert_eq!(retiring.events(), ["UOPS_RETIRED.RETIRE_SLOTS", "CPU_CLK_UNHALTED.THREAD_ANY"]);
/// ```
pub fn one_of_each_name<'m>(
    metrics: impl IntoIterator<Item = &'m Metric>,
    usable: impl Fn(&Metric) -> bool,
) -> Vec<&'m Metric> {
    let mut chosen: Vec<(&Metric, bool)> = Vec::new();
    for metric in metrics {
        match chosen.iter_mut().find(|(known, _)| known.name() == metric.name()) {
            Some((_, true)) => {}
            Some(kept) if usable(metric) => *kept = (metric, true),
            Some(_) => {}
            None => chosen.push((metric, usable(metric))),
        }
    }
    chosen.into_iter().map(|(metric, _)| metric).collect()
}
