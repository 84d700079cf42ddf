//! Regions of which not every execution had its threads timed.

use super::number;
use crate::run::report::{ProcessReport, RegionReport};
use crate::words::grouped;
use pacman_events::plural;

/// Half of the interval behind an estimate: `±2.5`, with `decimals`. Empty if the value is exact.
pub(in crate::run) fn within(margin: Option<f64>, decimals: usize) -> String {
    margin.map_or_else(String::new, |margin| format!(" ±{margin:.decimals$}"))
}

/// The margin of a region's shares, in percent.
pub(super) fn percent(region: &RegionReport) -> Option<f64> {
    region.sampling.map(|sampling| 100.0 * sampling.margin)
}

/// A line that explains such figures; `None` without them.
pub(in crate::run) fn line(process: &ProcessReport) -> Option<String> {
    let sampled = || process.regions.iter().filter(|region| region.sampling.is_some());
    let executions: u64 = sampled().map(|region| region.executions).sum();
    let timed: u64 = sampled().filter_map(|region| Some(region.sampling?.timed)).sum();
    let unknown = sampled().filter(|region| region.sampling.is_some_and(|one| !one.is_known()));
    let unknown = match unknown.count() {
        0 => String::new(),
        several => {
            format!("; of {} the sample says nothing about the threads", number(several, "region"))
        }
    };
    let has = plural::has(sampled().count());
    (executions > 0).then(|| {
        format!(
            "±  {} {has} estimated figures of threads and waits, from {} of {} executions (--overhead); numbers and \
             times of executions are exact{unknown}",
            number(sampled().count(), "short region"),
            grouped(timed),
            grouped(executions)
        )
    })
}
