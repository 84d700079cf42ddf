//! The regions that have panels, and their order: the verdict's first, then by lost time.

use super::verdict;
use crate::run::report::{ProcessReport, RegionReport};

/// Regions as indices; those beyond the number of panels are left out.
pub(super) fn shown(process: &ProcessReport) -> Vec<usize> {
    let mut order: Vec<usize> = (0..process.regions.len()).collect();
    let lost: Vec<f64> = process.regions.iter().map(lost).collect();
    order.sort_by(|one, other| lost[*other].total_cmp(&lost[*one]));
    let blamed = verdict::of(&[process]).and_then(|verdict| verdict.region);
    let is_blamed =
        |at: &usize| blamed.is_some_and(|region| std::ptr::eq(region, &process.regions[*at]));
    if let Some(place) = order.iter().position(is_blamed) {
        order[..=place].rotate_right(1);
    }
    order.truncate(PANELS);
    let mut bars = 0;
    let has_room = |at: &usize| {
        let before = bars;
        bars += process.regions[*at].threads.len();
        before < BARS
    };
    order.into_iter().take_while(has_room).collect()
}

/// The part of its threads' time that a region loses, if it is known.
pub(super) fn lost_part(region: &RegionReport) -> Option<f64> {
    match &region.states {
        Some(states) => {
            let losses = &states.losses;
            (losses.there > 0.0).then(|| (losses.uneven + losses.common) / losses.there)
        }
        None => region.waiting,
    }
}

/// Seconds of wall time that they are worth; a region inside others is part of them.
fn lost(region: &RegionReport) -> f64 {
    let outer = if region.nested < region.executions { region.outer } else { 0.0 };
    lost_part(region).unwrap_or(0.0) * outer
}

/// Panels of a process, and the threads in them. A browser shows a page of more bars only slowly.
const PANELS: usize = 40;
const BARS: usize = 1_000;

/// The regions that have rows in tables: those with the most time.
pub(super) fn listed(process: &ProcessReport) -> impl Iterator<Item = (usize, &RegionReport)> {
    process.regions.iter().enumerate().take(ROWS)
}

const ROWS: usize = 500;
