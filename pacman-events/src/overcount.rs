//! Counts of real processors beyond the truth, from measurements with known counts.

use crate::CpuModel;

/// A measurement of one event on a real processor, with a program whose counts are known.
///
/// ```
/// use pacman_events::{CpuModel, overcounts};
/// let skylake = CpuModel::named("skl").unwrap();
/// let instructions = overcounts(skylake).find(|row| row.event == "INSTRUCTIONS").unwrap();
/// assert_eq!((instructions.overcount, instructions.interrupts), (10_308, Some(303)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overcount {
    /// The portable name of the event.
    pub event: &'static str,
    /// The true count.
    pub expected: u64,
    /// The median count less the true one; negative if the processor counts too little.
    pub overcount: i64,
    /// The hardware's interrupts in the same runs, where they were counted.
    pub interrupts: Option<u64>,
    /// The highest count less the lowest.
    pub spread: u64,
    /// The number of runs.
    pub runs: u32,
    /// The processor's name.
    pub processor: &'static str,
    /// The source of the measurement, as `owner/repository@commit`, or the file that was contributed.
    pub source: &'static str,
}

/// The measurements of real processors that this table describes; none for most tables.
pub fn all(cpu: CpuModel) -> impl Iterator<Item = Overcount> {
    let rows = include_str!("../data/overcounts.tsv").lines();
    // The comments, and the names of the columns.
    let rows = rows.filter(|row| !row.starts_with('#')).skip(1);
    rows.filter_map(move |row| {
        let (table, row) = row.split_once('\t')?;
        if table == cpu.name() { read(row) } else { None }
    })
}

/// A row without its table; `None` if a cell is no number.
fn read(row: &'static str) -> Option<Overcount> {
    let mut cells = row.split('\t');
    let mut next = || cells.next();
    let event = next()?;
    let (expected, overcount) = (next()?.parse().ok()?, next()?.parse().ok()?);
    let (interrupts, _residual) = (next()?, next()?);
    Some(Overcount {
        event,
        expected,
        overcount,
        interrupts: interrupts.parse().ok(),
        spread: next()?.parse().ok()?,
        runs: next()?.parse().ok()?,
        processor: next()?,
        source: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Preset;

    #[test]
    fn every_row_is_read_and_names_a_table_and_a_preset() {
        let rows = include_str!("../data/overcounts.tsv").lines();
        let rows: Vec<_> = rows.filter(|row| !row.starts_with('#')).skip(1).collect();
        for row in &rows {
            let (table, _) = row.split_once('\t').unwrap();
            assert!(CpuModel::named(table).is_some_and(|cpu| cpu.name() == table), "{row}");
        }
        let read: Vec<_> = CpuModel::all().flat_map(all).collect();
        assert_eq!(read.len(), rows.len());
        for row in &read {
            assert!(Preset::named(row.event).is_some(), "{row:?}");
            assert!(row.overcount.unsigned_abs() < row.expected, "{row:?}");
            assert!(row.runs >= 3 && row.source.contains('@'), "{row:?}");
        }
    }

    /// Interrupts explain what Sandy Bridge and its successors count beyond the system's page faults.
    #[test]
    fn interrupts_are_less_than_what_instructions_are_over() {
        for cpu in CpuModel::all() {
            for row in all(cpu).filter(|row| row.event == "INSTRUCTIONS") {
                let interrupts = row.interrupts.unwrap_or(0);
                assert!(row.overcount > 0 && row.overcount as u64 >= interrupts, "{cpu}: {row:?}");
            }
        }
    }
}
