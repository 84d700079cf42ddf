//! Names of regions and processes in a sentence.

use crate::run::report::{ProcessReport, RegionReport};

/// Name and place of a region.
pub(super) fn titled(region: &RegionReport) -> String {
    let name = region.name.short();
    match region.place().filter(|place| !name.contains(place.as_str())) {
        Some(place) => format!("{name}, {place}"),
        None => name,
    }
}

/// The name of one of several processes.
pub(super) fn process(process: &ProcessReport) -> String {
    match process.process.rank {
        Some(rank) => format!("rank {}", rank.rank),
        None => format!("process {}", process.process.pid),
    }
}
