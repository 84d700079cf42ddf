//! The table of adaptation: the choice for each region, and the reason for it.

use std::collections::BTreeMap;

use pacman_core::export::grid::{Column, Grid};

use super::amount::{absent, difference};
use crate::run::report::ProcessReport;
use crate::words::{clean, grouped};

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
    let mut reasons = Reasons::default();
    for region in regions {
        let Some(adaptation) = &region.adaptation else { continue };
        let name = clean(&region.name.short());
        table.row(vec![
            adaptation.threads.to_string(),
            clean(&adaptation.configuration),
            clean(&adaptation.state),
            grouped(adaptation.reduced),
            adaptation.gained.map_or_else(absent, difference),
            name.clone(),
        ]);
        reasons.add(name, clean(&adaptation.why));
    }
    format!("\n{}\n{}", table.text(width), reasons.lines())
}

/// The reasons of regions, in their order. Those of more than [`FEW`] regions share a line.
#[derive(Default)]
struct Reasons {
    by_reason: BTreeMap<String, usize>,
    in_order: Vec<(String, String)>,
}

/// Up to so many regions have lines of their own.
const FEW: usize = 3;

impl Reasons {
    fn add(&mut self, name: String, why: String) {
        *self.by_reason.entry(why.clone()).or_default() += 1;
        self.in_order.push((name, why));
    }

    fn lines(&self) -> String {
        let is_common = |regions: &usize| *regions > FEW;
        let own = self.in_order.iter().filter(|(_, why)| !is_common(&self.by_reason[why]));
        let own = own.map(|(name, why)| format!("{name}: {why}\n"));
        let common = self.by_reason.iter().filter(|(_, regions)| is_common(regions));
        own.chain(common.map(|(why, regions)| format!("{regions} regions: {why}\n"))).collect()
    }
}
