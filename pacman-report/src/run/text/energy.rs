//! The table of energy.

use pacman_core::export::grid::{Column, Grid};

use super::amount::{joules, rounded, seconds, watts};
use crate::run::report::{ProcessReport, mean};
use crate::words::{clean, grouped};

/// The energy of the packages by region; `None` if none was read. The last row is the process.
pub(super) fn table(process: &ProcessReport, shown: usize) -> Option<Grid> {
    let whole = process.energy.as_ref()?;
    let mut table = Grid::new(vec![
        Column::right("energy", "packages"),
        Column::right("±", ""),
        Column::right("share", "%"),
        Column::right("power", ""),
        Column::right("time", ""),
        Column::right("executions", "read"),
        Column::label("region"),
    ]);
    let absent = || "-".to_owned();
    let share = |part: f64| match whole.joules > 0.0 {
        true => rounded(100.0 * part / whole.joules, 1),
        false => absent(),
    };
    for region in &process.regions[..shown] {
        let name = clean(&region.name.short());
        table.row(match region.energy.filter(|energy| energy.executions > 0) {
            Some(energy) => vec![
                joules(energy.joules),
                joules(energy.resolution),
                share(energy.joules),
                energy.watts.map_or_else(absent, watts),
                seconds(energy.seconds),
                grouped(energy.executions),
                name,
            ],
            None => {
                let mut cells: Vec<String> = (0..6).map(|_| absent()).collect();
                cells.push(name);
                cells
            }
        });
    }
    table.row(vec![
        joules(whole.joules),
        absent(),
        share(whole.joules),
        mean(whole.joules, whole.seconds).map_or_else(absent, watts),
        seconds(whole.seconds),
        absent(),
        "the whole process".into(),
    ]);
    Some(table)
}
