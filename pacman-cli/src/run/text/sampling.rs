//! Regions of which not every execution was timed.

use super::{number, seconds};
use crate::run::report::{ProcessReport, RegionReport};
use crate::stat::grouped;

/// The time of a region, with its standard error if it is estimated.
pub(in crate::run) fn time(region: &RegionReport) -> String {
    match error(region) {
        Some(part) => format!("{} ±{:.1}%", seconds(region.seconds), 100.0 * part),
        None => seconds(region.seconds),
    }
}

/// The standard error as a part of the time, if the time is estimated.
fn error(region: &RegionReport) -> Option<f64> {
    let sampling = region.sampling.filter(|_| region.seconds > 0.0)?;
    Some(sampling.standard_error / region.seconds)
}

/// A line that explains such times; `None` without them.
pub(in crate::run) fn line(process: &ProcessReport) -> Option<String> {
    let sampled = || process.regions.iter().filter(|region| region.sampling.is_some());
    let executions: u64 = sampled().map(|region| region.executions).sum();
    let timed: u64 = sampled().filter_map(|region| Some(region.sampling?.timed)).sum();
    let verb = if sampled().count() == 1 { "has" } else { "have" };
    (executions > 0).then(|| {
        format!(
            "±  {} {verb} estimated times and waits, from {} of {} executions (--overhead); the \
             numbers of executions are exact",
            number(sampled().count(), "short region"),
            grouped(timed),
            grouped(executions)
        )
    })
}
