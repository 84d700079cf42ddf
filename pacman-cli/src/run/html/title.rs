//! Names of regions and processes on the page.

use super::colour::colour;
use super::escape::escaped;
use crate::run::report::{ProcessReport, RegionReport};

/// Name and place of a region, escaped.
pub(super) fn titled(region: &RegionReport) -> String {
    let name = region.name.short();
    match region.place().filter(|place| !name.contains(place.as_str())) {
        Some(place) => escaped(&format!("{name}, {place}")),
        None => escaped(&name),
    }
}

/// The first cell of a row about a region.
pub(super) fn heading_cell(region: &RegionReport, at: usize) -> String {
    format!(
        "<th scope=\"row\"><i class=\"swatch {}\"></i><b class=\"number\">{}</b> {}</th>",
        colour(at),
        at + 1,
        escaped(&region.name.short())
    )
}

/// The name of one of several processes.
pub(super) fn process(process: &ProcessReport) -> String {
    match process.process.rank {
        Some(rank) => format!("rank {}", rank.rank),
        None => format!("process {}", process.process.pid),
    }
}

/// The element of a process.
pub(super) fn process_id(place: usize) -> String {
    format!("process-{place}")
}
