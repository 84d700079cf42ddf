//! Runs of a command as rows, with the median and the range of every figure.

use std::time::Duration;

use pacman_events::plural::{self, number};

use super::count::Count;
use super::figures::{Columns, Figures, Row, Run, Who};
use super::usage::Usage;
use crate::median;

/// The row of a run. Counts that lack a thread are left out: those of other runs have it.
pub fn row(columns: &Columns, run: Run, mut threads: Vec<Row>, elapsed: Duration) -> Row {
    columns.leave_out(&mut threads);
    let sum = Figures::sum(threads.iter().map(|row| &row.figures));
    let notes = match sum.missing {
        0 => Vec::new(),
        missing => {
            vec![format!(
                "no counts, because {missing} of {} {} none",
                number(threads.len(), "thread"),
                plural::has(missing)
            )]
        }
    };
    Row {
        who: Who::Run(run),
        seat: None,
        bound: false,
        moved: false,
        figures: Figures {
            counts: sum.counts.filter(|_| sum.missing == 0),
            time: elapsed,
            missing: usize::from(sum.missing > 0),
            derived: None,
        },
        notes,
        implausible: None,
    }
}

/// The median, the minimum and the maximum of each figure by itself.
///
/// One disturbed run moves a mean and a deviation, but not a median; the range hides no run.
pub(super) fn summaries(columns: &Columns, runs: &[Row]) -> Vec<Row> {
    if runs.is_empty() {
        return Vec::new();
    }
    let named = [("median", 0), ("minimum", 1), ("maximum", 2)];
    named.map(|(label, which)| summary(columns, runs, label, which)).into()
}

fn summary(columns: &Columns, runs: &[Row], label: &str, which: usize) -> Row {
    let counts = |event: usize| {
        let counts = runs.iter().filter_map(|run| Some(run.figures.counts.as_ref()?[event]));
        let counts = counts.filter(|count| count.value().is_some());
        statistics(counts.collect(), |count| count.value(), Count::midpoint)
            .map(|three| three[which])
    };
    let time = |time: &dyn Fn(&Row) -> Option<Duration>| {
        statistics(runs.iter().filter_map(time).collect(), |time| *time, |a, b| (a + b) / 2)
            .map(|three| three[which])
    };
    let metric = |at: usize| {
        let rates = runs.iter().filter_map(|run| columns.derive(&run.figures)[at]);
        statistics(rates.collect(), |rate| *rate, f64::midpoint).map(|three| three[which])
    };
    let usage = |of: fn(Usage) -> Duration| {
        time(&move |run: &Row| match &run.who {
            Who::Run(run) => run.usage.map(of),
            _ => None,
        })
    };
    let usage = usage(|usage| usage.user).zip(usage(|usage| usage.system));
    let counts: Option<Vec<Count>> = (0..columns.events.len()).map(counts).collect();
    Row {
        who: Who::Run(Run {
            label: label.into(),
            begin: Duration::ZERO,
            usage: usage.map(|(user, system)| Usage { user, system }),
            exit: None,
        }),
        seat: None,
        bound: false,
        moved: false,
        figures: Figures {
            missing: usize::from(counts.is_none()),
            counts,
            time: time(&|run| Some(run.figures.time)).unwrap_or_default(),
            derived: Some((0..columns.metrics.list().count()).map(metric).collect()),
        },
        notes: Vec::new(),
        implausible: None,
    }
}

/// Median, minimum and maximum by `key`; `None` without values.
fn statistics<T: Copy, K: PartialOrd>(
    mut values: Vec<T>,
    key: impl Fn(&T) -> K,
    middle: fn(T, T) -> T,
) -> Option<[T; 3]> {
    // No figure is a NaN: metrics are finite.
    values.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    let (first, last) = (*values.first()?, *values.last()?);
    Some([median::of_sorted(&values, middle)?, first, last])
}

#[cfg(test)]
mod tests {
    use super::super::figures::Column;
    use super::*;

    fn run(counts: Option<[u64; 2]>, seconds: u64) -> Row {
        let columns = columns();
        let figures = Figures {
            missing: usize::from(counts.is_none()),
            counts: counts.map(|counts| counts.map(Count::exact).into()),
            ..Figures::default()
        };
        let thread = Row {
            who: Who::Context,
            seat: None,
            bound: false,
            moved: false,
            figures: Figures { time: Duration::from_secs(9), ..figures },
            notes: Vec::new(),
            implausible: None,
        };
        let usage = Usage { user: Duration::from_secs(seconds), system: Duration::ZERO };
        let run = Run { label: "1".into(), begin: Duration::ZERO, usage: Some(usage), exit: None };
        row(&columns, run, vec![thread], Duration::from_secs(seconds))
    }

    fn exact(counts: [u64; 2]) -> Option<Vec<Count>> {
        Some(counts.map(Count::exact).into())
    }

    fn columns() -> Columns {
        let column = |name: &str| Column {
            name: name.into(),
            unit: "",
            hardware: true,
            doubt: None,
            table: None,
        };
        Columns::new(["CYCLES", "INSTRUCTIONS"].map(column).into())
    }

    #[test]
    fn each_figure_has_its_own_median_and_range() {
        let runs = [run(Some([10, 40]), 1), run(Some([20, 20]), 4), run(Some([40, 40]), 2)];
        let [median, minimum, maximum] = summaries(&columns(), &runs).try_into().expect("three");
        assert_eq!(median.figures.counts, exact([20, 40]));
        assert_eq!(median.figures.time, Duration::from_secs(2));
        let ipc = |row: &Row| columns().derive(&row.figures)[0];
        assert_eq!([&median, &minimum, &maximum].map(ipc), [Some(1.0), Some(1.0), Some(4.0)]);
        assert_eq!(maximum.figures.counts, exact([40, 40]));
        let Who::Run(summary) = minimum.who else { panic!("a summary") };
        assert_eq!(summary.usage.map(|usage| usage.user), Some(Duration::from_secs(1)));
        assert_eq!(
            statistics(vec![1.0, 4.0], |value| *value, f64::midpoint),
            Some([2.5, 1.0, 4.0])
        );
        assert_eq!(statistics(Vec::new(), |value: &f64| *value, f64::midpoint), None);
    }

    #[test]
    fn a_run_without_all_counts_is_in_no_statistic_of_counts() {
        let runs = [run(Some([10, 40]), 1), run(None, 3)];
        assert_eq!(runs[1].notes, ["no counts, because 1 of 1 thread has none"]);
        let summaries = summaries(&columns(), &runs);
        assert!(summaries.iter().all(|row| row.figures.counts == exact([10, 40])));
        assert_eq!(summaries[0].figures.time, Duration::from_secs(2), "its time is known");
    }
}
