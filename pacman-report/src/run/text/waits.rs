//! The waits inside each region by construct and line, the longest first.

#[cfg(test)]
mod tests;

use pacman_core::export::grid::{Column, Grid};
use pacman_events::plural::number;

use super::amount::{absent, rounded, seconds};
use super::efficiency::in_region;
use crate::run::report::{ProcessReport, RegionReport, WaitSum};
use crate::words::{clean, grouped};

/// The waits of the first `shown` regions; `None` without any.
pub(super) fn table(process: &ProcessReport, shown: usize, is_short: bool) -> Option<Grid> {
    let mut table = Grid::new(vec![
        Column::right("waiting", "all threads"),
        Column::right("share", "%"),
        Column::right("waits", ""),
        Column::right("mean", ""),
        Column::left("threads wait"),
        Column::label("region"),
    ]);
    // A program may have all its loops in one region.
    let few = (ROWS / shown.max(1)).clamp(5, 12);
    let (limits, rows) = if is_short { ((few, 0.01), ROWS) } else { ((20, 0.001), usize::MAX) };
    for region in &process.regions[..shown] {
        let lines = lines(process, region, limits);
        if table.rows.len() + lines.len() > rows {
            break;
        }
        for (at, Line { count, seconds: time, what }) in lines.into_iter().enumerate() {
            let there = region.states.as_ref().map_or(0.0, |states| states.losses.there);
            let mean = count.filter(|count| *count > 0).map(|count| time / count as f64);
            table.row(vec![
                seconds(time),
                rounded(100.0 * time / there, 1),
                count.map_or_else(absent, grouped),
                mean.map_or_else(absent, seconds),
                what,
                if at == 0 { clean(&region.name.short()) } else { String::new() },
            ]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The waits of all threads at one place.
struct Line {
    count: Option<u64>,
    seconds: f64,
    what: String,
}

/// The longest waits of a region, and a line for the others. A wait of less than the part `least` of the
/// threads' time has no line of its own, nor has one after the first `most`.
fn lines(process: &ProcessReport, region: &RegionReport, (most, least): (usize, f64)) -> Vec<Line> {
    let Some(states) = &region.states else { return Vec::new() };
    let mut lines: Vec<Line> = Vec::new();
    for WaitSum { reason, count, seconds } in states.waits() {
        let what = in_region(reason, &process.sites);
        // A compiler may make several calls of one construct.
        match lines.iter_mut().find(|line| line.what == what) {
            Some(line) => {
                line.count = line.count.zip(count).map(|(one, other)| one + other);
                line.seconds += seconds;
            }
            None => lines.push(Line { count, seconds, what }),
        }
    }
    lines.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    let worth = |line: &&Line| line.seconds >= least * states.losses.there;
    let shown = lines.iter().take(most).take_while(worth).count();
    // A line for one other would take no less room.
    let shown = if shown == most && shown + 1 == lines.len() { lines.len() } else { shown };
    let others = lines.split_off(shown);
    if shown > 0 && !others.is_empty() {
        lines.push(Line {
            count: others.iter().map(|line| line.count).sum(),
            seconds: others.iter().map(|line| line.seconds).sum(),
            what: format!("and {}", number(others.len(), "other")),
        });
    }
    lines
}

/// Rows on standard error.
const ROWS: usize = 40;
