//! Regions of which not every execution was observed.

use super::seconds;
use crate::run::report::{ProcessReport, RegionReport};
use crate::stat::grouped;

/// The time of a region, with its standard error if it is estimated.
pub(super) fn time(region: &RegionReport) -> String {
    match region.sampling {
        Some(sampling) if region.seconds > 0.0 => {
            let percent = 100.0 * sampling.standard_error / region.seconds;
            format!("{} ±{percent:.1}%", seconds(region.seconds))
        }
        _ => seconds(region.seconds),
    }
}

/// A line that explains such times; empty without them.
pub(super) fn line(process: &ProcessReport) -> String {
    let sampled = || process.regions.iter().filter(|region| region.sampling.is_some());
    let regions = sampled().count();
    if regions == 0 {
        return String::new();
    }
    let executions: u64 = sampled().map(|region| region.executions).sum();
    let observed: u64 = sampled().filter_map(|region| Some(region.sampling?.observed)).sum();
    let s = if regions == 1 { " is" } else { "s are" };
    format!(
        "±: the figures of {regions} short region{s} estimated from {} of {} executions (--overhead); \
         the numbers of executions are exact\n",
        grouped(observed),
        grouped(executions)
    )
}
