//! The table of adaptation: the choice for each region, and the reason for it.

use std::collections::BTreeMap;

use pacman_core::export::grid::{Column, Grid};

use super::amount::{absent, difference, executions};
use crate::run::report::{GuardReport, ProcessReport, RegionReport};
use crate::stat::{clean, grouped};

/// The table of what adaptation chose for the `shown` regions with the most time, and below it why. Empty if nothing
/// was adapted.
pub(super) fn table(process: &ProcessReport, shown: usize, width: usize) -> String {
    if !process.is_adapted() {
        return String::new();
    }
    let mut table = Grid::new(vec![
        Column::right("chosen", "threads"),
        Column::right("placed", ""),
        Column::left("state"),
        Column::right("reduced", "executions"),
        Column::right("gained", ""),
        Column::label("region"),
    ]);
    let regions = &process.regions[..shown];
    let common = Common::of(regions);
    let mut lines = String::new();
    for region in regions {
        let Some(adaptation) = &region.adaptation else { continue };
        let name = clean(&region.name.short());
        table.row(vec![
            adaptation.threads.to_string(),
            clean(&adaptation.configuration),
            match region.guards.iter().find(|guarded| common.has(guarded)) {
                Some(guarded) if adaptation.reduced == 0 => {
                    clean(&format!("guard {}", guarded.guard))
                }
                _ => clean(&adaptation.state),
            },
            grouped(adaptation.reduced),
            adaptation.gained.map_or_else(absent, difference),
            name.clone(),
        ]);
        // The line of the guard below has the same reason, and the place.
        if !region.guards.iter().any(|guarded| guarded.why == adaptation.why) {
            lines.push_str(&format!("{name}: {}\n", clean(&adaptation.why)));
        }
        for guarded in region.guards.iter().filter(|guarded| !common.has(guarded)) {
            let place = guarded.short_place().map(|at| format!(" ({})", clean(at)));
            lines.push_str(&format!(
                "{name}: kept by guard {} in {}: {}{}\n",
                clean(&guarded.guard),
                executions(guarded.executions),
                clean(&guarded.why),
                place.unwrap_or_default()
            ));
        }
    }
    lines.push_str(&common.lines());
    format!("\n{}\n{lines}", table.text(width))
}

/// Guards that kept more than `FEW` regions for the same reason, without a place. They share one line.
struct Common<'a> {
    /// By guard and reason: the number of regions, and their executions.
    kept: BTreeMap<(&'a str, &'a str), (usize, u64)>,
}

/// Up to so many regions have lines of their own.
const FEW: usize = 3;

impl<'a> Common<'a> {
    fn of(regions: &'a [RegionReport]) -> Common<'a> {
        let mut kept: BTreeMap<_, (usize, u64)> = BTreeMap::new();
        for guarded in regions.iter().flat_map(|region| &region.guards) {
            if guarded.at.is_none() {
                let (regions, executions) = kept.entry(key(guarded)).or_default();
                *regions += 1;
                *executions += guarded.executions;
            }
        }
        kept.retain(|_, (regions, _)| *regions > FEW);
        Common { kept }
    }

    fn has(&self, guarded: &GuardReport) -> bool {
        guarded.at.is_none() && self.kept.contains_key(&key(guarded))
    }

    fn lines(&self) -> String {
        let line = |(&(guard, why), &(regions, count)): (&(&str, &str), &(usize, u64))| {
            let (guard, count, why) = (clean(guard), executions(count), clean(why));
            format!("{regions} regions: kept by guard {guard} in {count}: {why}\n")
        };
        self.kept.iter().map(line).collect()
    }
}

fn key(guarded: &GuardReport) -> (&str, &str) {
    (&guarded.guard, &guarded.why)
}
