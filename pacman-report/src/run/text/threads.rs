//! The threads of regions: a line each, or one line for all of a wide team.

use pacman_core::export::grid::{Column, Grid};

use super::Extent;
use super::amount::{absent, seconds};
use super::spread::{IN_FULL, Spread};
use crate::run::report::{ProcessReport, RegionReport};
use crate::words::{clean, grouped};

/// The table of single threads, and that of wide teams.
pub(super) fn tables(process: &ProcessReport, shown: usize, extent: Extent) -> [Option<Grid>; 2] {
    let is_wide = |region: &&RegionReport| !extent.each_thread && region.threads.len() > IN_FULL;
    let (wide, narrow): (Vec<_>, Vec<_>) = process.regions[..shown].iter().partition(is_wide);
    let most = if extent.is_short { ROWS } else { usize::MAX };
    [single(&narrow, most), teams(&wide)]
}

/// A line for each thread, until they are `most`.
fn single(regions: &[&RegionReport], most: usize) -> Option<Grid> {
    let mut table = Grid::new(vec![
        Column::right("thread", ""),
        Column::right("busy", ""),
        Column::right("executions", ""),
        Column::right("cpu", ""),
        Column::right("core", ""),
        Column::right("beside", ""),
        Column::right("moves", ""),
        Column::label("region"),
    ]);
    let mut rows = 0;
    for region in regions {
        if rows + region.threads.len() > most {
            break;
        }
        rows += region.threads.len();
        for (position, thread) in region.threads.iter().enumerate() {
            let beside: Vec<String> =
                thread.beside.iter().map(|other| format!("T{other}")).collect();
            table.row(vec![
                format!("T{}", thread.row.thread),
                seconds(thread.row.seconds),
                grouped(thread.row.executions),
                thread.row.cpu.map_or_else(absent, |cpu| cpu.to_string()),
                thread.seat.map_or_else(absent, |seat| seat.core.to_string()),
                if beside.is_empty() { absent() } else { beside.join(" ") },
                grouped(thread.row.moves),
                if position == 0 { clean(&region.name.short()) } else { String::new() },
            ]);
        }
    }
    (rows > 0).then_some(table)
}

/// A line for each team.
fn teams(regions: &[&RegionReport]) -> Option<Grid> {
    let mut table = Grid::new(vec![
        Column::right("threads", ""),
        Column::right("busy", "least"),
        Column::right("busy", "median"),
        Column::right("busy", "most"),
        Column::right("thread", "of most"),
        Column::right("executions", "least"),
        Column::right("executions", "most"),
        Column::right("moves", "all"),
        Column::label("region"),
    ]);
    for region in regions {
        let rows = || region.threads.iter().map(|thread| &thread.row);
        let busy = Spread::of(rows().map(|row| (row.thread, row.seconds)))?;
        let executions = || rows().map(|row| row.executions);
        table.row(vec![
            region.threads.len().to_string(),
            seconds(busy.least),
            seconds(busy.median),
            seconds(busy.most),
            format!("T{}", busy.thread),
            grouped(executions().min()?),
            grouped(executions().max()?),
            grouped(rows().fold(0, |sum, row| sum.saturating_add(row.moves))),
            clean(&region.name.short()),
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Rows of single threads on standard error.
const ROWS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::made::{report_on, wide};
    use crate::run::text::write;

    fn text(threads: u32, extent: Extent) -> String {
        write(&report_on(threads.div_ceil(2), &[wide(threads, 3, &[])]), extent, usize::MAX)
    }

    #[test]
    fn a_wide_team_has_one_line() {
        let whole = Extent::default();
        // Of 16 threads each has a line, and of 17 none.
        for (threads, has_single) in [(16, true), (17, false), (256, false)] {
            let text = text(threads, whole);
            let is_single = |line: &&str| {
                let first = line.split_whitespace().next();
                first
                    .and_then(|word| word.strip_prefix('T'))
                    .is_some_and(|it| it.parse::<u32>().is_ok())
            };
            let single = text.lines().filter(is_single).count();
            let expected = if has_single { 3 * threads as usize } else { 0 };
            assert_eq!(single, expected, "{threads}: {text}");
            assert_eq!(text.contains("of most"), !has_single, "{threads}: {text}");
        }
        let lines = text(256, whole).lines().count();
        let fewer = text(64, whole).lines().count();
        // Findings depend on the times, five at most.
        assert!(lines.abs_diff(fewer) <= 5, "no line depends on the threads: {lines}, {fewer}");
        let each = text(256, Extent { each_thread: true, ..whole });
        assert!(each.lines().count() >= lines + 3 * 256 - 6, "{each}");
    }

    /// By hand: the busiest of 17 threads, thread 9, and the one in the middle.
    #[test]
    fn the_line_has_least_median_and_most() {
        let mut recording = wide(17, 1, &[]);
        for row in &mut recording.regions[0].rows {
            row.seconds = f64::from(row.thread + 1);
            row.executions = 100 + u64::from(row.thread);
            row.moves = 2;
        }
        recording.regions[0].rows[9].seconds = 40.0;
        let report = report_on(9, &[recording]);
        let [threads, teams] = tables(&report.processes[0], 1, Extent::default());
        assert!(threads.is_none());
        let row = teams.expect("a wide team").rows.remove(0).cells;
        let name = "solve, line 1";
        assert_eq!(row, ["17", "1.00 s", "9.00 s", "40.0 s", "T9", "100", "116", "34", name]);
    }
}
