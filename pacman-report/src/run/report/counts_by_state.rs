//! The counts of useful time and of waits, apart: the rates of a spin loop are not the program's.

use pacman_regions::{Row, States};

use super::columns::{Columns, Figures, waits};

/// The counts of a thread's part, or of all threads of a region.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::run) struct CountsByState {
    /// Of the part without its waits.
    pub(in crate::run) useful: Figures,
    /// Of the waits at constructs, calls of MPI among them.
    pub(in crate::run) waiting: Figures,
}

impl CountsByState {
    /// Of these rows together; `None` if one of them lacks the counts of a wait.
    pub(super) fn of(rows: &[&Row], columns: &Columns) -> Option<CountsByState> {
        let divided: Option<Vec<(Row, Row)>> = rows.iter().map(|row| divided(row)).collect();
        let (useful, waiting): (Vec<Row>, Vec<Row>) = divided?.into_iter().unzip();
        let sum = |of: fn(&Row) -> u64| rows.iter().copied().map(of).fold(0, u64::saturating_add);
        let (executions, waits) = (sum(|row| row.counted), sum(waits));
        // One of the two readings of a wait is in the wait, the other one around it.
        let figures = |rows: &[Row], readings: u64| {
            columns.figures_read(&rows.iter().collect::<Vec<_>>(), readings)
        };
        (!useful.is_empty()).then(|| CountsByState {
            useful: figures(&useful, executions.saturating_add(waits)),
            waiting: figures(&waiting, waits),
        })
    }
}

/// The useful part of a row, and its waits.
fn divided(row: &Row) -> Option<(Row, Row)> {
    let States { waits, counted, counts, .. } = row.states.as_ref()?;
    if *counted == 0 || *counted != row.counted || row.counts.iter().all(Option::is_none) {
        return None;
    }
    let seconds = waits.iter().map(|wait| wait.seconds).sum::<f64>().min(row.seconds);
    let useful = row.counts.iter().zip(counts);
    let useful = useful.map(|(all, waiting)| (*all)?.checked_sub((*waiting)?)).collect();
    let of = |seconds: f64, counts: Vec<Option<u64>>| Row {
        seconds,
        counts,
        states: None,
        ..row.clone()
    };
    Some((of(row.seconds - seconds, useful), of(seconds, counts.clone())))
}

#[cfg(test)]
mod tests {
    use pacman_regions::{Overhead, Wait};

    use super::*;
    use crate::run::report::Count;
    use crate::run::tests::made::described;

    /// A part of 4 s, of which the thread waits for 1 s.
    fn row(counted: u64, counts: [u64; 2], waiting: [u64; 2]) -> Row {
        Row {
            thread: 0,
            executions: 10,
            seconds: 4.0,
            cpu: None,
            moves: 0,
            counted: 10,
            counts: counts.map(Some).to_vec(),
            margins: Vec::new(),
            counted_by_event: Vec::new(),
            states: Some(States {
                waits: vec![Wait { site: 0, count: 3, seconds: 1.0 }],
                counted,
                counts: waiting.map(Some).to_vec(),
                ..States::default()
            }),
        }
    }

    fn columns() -> Columns {
        Columns::of(&["INSTRUCTIONS", "CYCLES"].map(described), &[], &Overhead::default())
    }

    #[test]
    fn useful_counts_are_those_of_the_part_without_its_waits() {
        let columns = columns();
        let row = row(10, [7000, 4000], [3000, 1000]);
        let CountsByState { useful, waiting } =
            CountsByState::of(&[&row], &columns).expect("all waits were counted");
        let count = |value| {
            Some(Count { value, is_complete: true, share: 1.0, margin: 0.0, readings: None })
        };
        assert_eq!(useful.counts, [count(4000), count(3000)]);
        assert_eq!(waiting.counts, [count(3000), count(1000)]);
        assert_eq!(useful.rates, [Some(4000.0 / 3.0), Some(1000.0)]);
        assert_eq!(waiting.rates, [Some(3000.0), Some(1000.0)]);
        let ipc = columns.metrics.place("ipc");
        let ipc = ipc.expect("both of its events are counted");
        assert_eq!((useful.metrics[ipc], waiting.metrics[ipc]), (Some(4.0 / 3.0), Some(3.0)));
    }

    #[test]
    fn a_wait_without_counts_leaves_none_of_either() {
        let whole = row(10, [7000, 4000], [3000, 1000]);
        let lacking = row(9, [7000, 4000], [3000, 1000]);
        assert_eq!(CountsByState::of(&[&whole, &lacking], &columns()), None);
        let untimed = Row { states: None, ..whole.clone() };
        assert_eq!(CountsByState::of(&[&untimed], &columns()), None);
        assert_eq!(CountsByState::of(&[], &columns()), None);
    }
}
