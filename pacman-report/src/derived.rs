//! The metrics that follow from a table of counted events: one rule for `run` and `stat`.
//!
//! A metric is absent where one of its counts is, or where it has no value, and never 0 instead. An event
//! that never moved may be one that the machine does not count, so it counts as absent. A metric of
//! doubtful counts has their mark.

use pacman_core::report::{DOUBTED, zero_count_warnings};
use pacman_metrics::language::{Applied, Count, Metric, builtin};

/// The library's metrics whose events are columns of a table.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    all: Vec<Applied<'static>>,
    /// Columns whose counts may be wrong.
    doubted: Vec<usize>,
    /// Columns that never moved.
    unmoved: Vec<usize>,
}

impl Metrics {
    /// The metrics of a table by the columns that count an event, as [`Applied::over`]; `doubted` are the
    /// columns whose counts may be wrong.
    pub(crate) fn over(
        sets: &[Vec<usize>],
        doubted: Vec<usize>,
        column: impl Fn(&str) -> Option<usize>,
    ) -> Metrics {
        Metrics { all: Applied::over(builtin(), sets, column), doubted, unmoved: Vec::new() }
    }

    /// The metrics.
    pub(crate) fn list(&self) -> impl Iterator<Item = &'static Metric> + '_ {
        self.all.iter().map(Applied::metric)
    }

    /// The name and the unit of each, with the mode of its counts if the metric's own is another one, and a mark if its
    /// counts may be wrong.
    pub(crate) fn titles(&self) -> impl Iterator<Item = (String, &'static str)> + '_ {
        self.all.iter().map(|one| {
            let is_doubted = one.columns().any(|column| self.doubted.contains(&column));
            let mark = if is_doubted { DOUBTED } else { "" };
            (format!("{}{}{mark}", one.metric().name(), one.modes()), one.metric().unit())
        })
    }

    /// The place of a metric in [`list`](Self::list).
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.list().position(|metric| metric.name() == name)
    }

    /// Takes hardware events as absent that stayed at 0 in all rows while another one counted a lot.
    pub(crate) fn leave_out_unmoved(&mut self, totals: &[(usize, impl AsRef<str>, u64)]) {
        let moved = || totals.iter().filter(|(.., count)| *count > 0);
        let is_odd = |name: &str| {
            let with = moved().map(|(_, name, count)| (name.as_ref(), *count)).chain([(name, 0)]);
            !zero_count_warnings(&with.collect::<Vec<_>>()).is_empty()
        };
        let unmoved = totals.iter().filter(|(_, name, count)| *count == 0 && is_odd(name.as_ref()));
        self.unmoved = unmoved.map(|(column, ..)| *column).collect();
    }

    /// The values of a row by the counts of its columns and its time; `None` where there is none.
    pub(crate) fn values(
        &self,
        count: impl Fn(usize) -> Option<Count>,
        nanoseconds: Option<u64>,
    ) -> Vec<Option<f64>> {
        let known = |column: usize| count(column).filter(|_| !self.unmoved.contains(&column));
        let value = |one: &Applied<'static>| Some(one.figure(known, nanoseconds).ok()?.value);
        self.all.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_never_moved_gives_no_metric_and_a_zero_of_a_row_does() {
        let columns = ["CYCLES", "STALL_CYCLES", "INSTRUCTIONS"];
        let place = |name: &str| columns.iter().position(|known| *known == name);
        let mut metrics = Metrics::over(&[], vec![1], place);
        let names: Vec<String> = metrics.titles().map(|(title, _)| title).collect();
        let marked = |name: &str| format!("{name}{DOUBTED}");
        assert_eq!(
            names,
            ["ipc".into(), marked("stall-share-issue"), marked("stall-share-bunched")]
        );
        let row = [5_000_000u64, 0, 10_000_000];
        let values =
            |metrics: &Metrics| metrics.values(|column| Some(Count::from(row[column])), None);
        assert_eq!(values(&metrics), [Some(2.0), Some(0.0), Some(0.0)]);
        let totals = |stalls| [(0, "CYCLES", 5_000_000), (1, "STALL_CYCLES", stalls)];
        let kernel = Metrics::over(&[], Vec::new(), |name| {
            ["CYCLES:k", "INSTRUCTIONS:k"].iter().position(|known| *known == name)
        });
        let titles: Vec<String> = kernel.titles().map(|(title, _)| title).collect();
        assert_eq!(titles, ["ipc:k"]);
        metrics.leave_out_unmoved(&totals(1));
        assert_eq!(values(&metrics), [Some(2.0), Some(0.0), Some(0.0)], "other rows have stalls");
        metrics.leave_out_unmoved(&totals(0));
        assert_eq!(values(&metrics), [Some(2.0), None, None]);
        metrics.leave_out_unmoved(&[(0, "CYCLES", 900), (1, "STALL_CYCLES", 0)]);
        assert_eq!(values(&metrics), [Some(2.0), Some(0.0), Some(0.0)], "too little to tell");
        assert_eq!(metrics.place("stall-share-issue"), Some(1));
    }
}
