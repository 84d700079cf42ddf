//! Metrics over the columns of a table of counts: which follow, and the one rule for their values.

use super::count::{Count, Figure};
use super::expression::is_quantity;
use super::metric::Metric;
use crate::not_computable::not_computable;
use pacman_events::Result;

/// A metric whose events are columns of a table.
///
/// Where a table has the events of a metric in one mode alone, the metric is of that mode: counts
/// of different modes are never mixed.
///
/// ```
/// use pacman_metrics::language::{Applied, builtin};
///
/// let columns = ["CYCLES:k", "INSTRUCTIONS:k", "CYCLES"];
/// let place = |name: &str| columns.iter().position(|column| *column == name);
/// let applied = Applied::over(builtin(), &[], place);
/// assert_eq!(applied.len(), 1);
/// assert_eq!(applied[0].metric().name(), "ipc");
/// let row = [Some(2_000), Some(3_000), Some(7)];
/// assert_eq!(applied[0].value(|column| row[column], None)?, 1.5);
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Applied<'m> {
    metric: &'m Metric,
    modes: &'static str,
    columns: Vec<(String, usize)>,
    is_of_one_time: bool,
}

impl<'m> Applied<'m> {
    /// The metrics that follow from a table, one of each name in the order of `metrics`.
    ///
    /// `column` is the number of the column that counts an event. `sets` are the columns that were
    /// counted at the same time, one list if all were, or none. A metric of a context's clocks
    /// follows from no table: its rows are times of threads.
    pub fn over(
        metrics: &'m [Metric],
        sets: &[Vec<usize>],
        column: impl Fn(&str) -> Option<usize>,
    ) -> Vec<Applied<'m>> {
        let mut all: Vec<Applied<'m>> = Vec::new();
        for metric in metrics {
            if all.iter().all(|known| known.metric.name() != metric.name()) {
                let of = |modes: &&'static str| Applied::of(metric, modes, sets, &column);
                all.extend(MODES.iter().find_map(of));
            }
        }
        all
    }

    fn of(
        metric: &'m Metric,
        modes: &'static str,
        sets: &[Vec<usize>],
        column: &dyn Fn(&str) -> Option<usize>,
    ) -> Option<Applied<'m>> {
        let names = metric.expression().names();
        let needs_time = names.contains(&TIME);
        let events = names.into_iter().filter(|name| *name != TIME);
        let columns = events.map(|name| {
            let has_modes = name.contains([':', '/']);
            let place = match modes {
                _ if is_quantity(name) => None,
                "" => column(name),
                _ if has_modes => None,
                _ => column(&format!("{name}{modes}")),
            };
            Some((name.to_owned(), place?))
        });
        let columns: Vec<(String, usize)> = columns.collect::<Option<_>>()?;
        // A quotient of two sets would compare two times. The time of a row is that of all sets.
        let is_of_one_time = sets.iter().all(|set| {
            let mut within = columns.iter().map(|(_, at)| set.contains(at));
            let first = needs_time || within.next().unwrap_or(true);
            within.all(|other| other == first)
        });
        Some(Applied { metric, modes, columns, is_of_one_time })
    }

    /// The metric.
    pub fn metric(&self) -> &'m Metric {
        self.metric
    }

    /// The mode that the columns are of, such as `:k`; empty for the metric's own.
    pub fn modes(&self) -> &'static str {
        self.modes
    }

    /// The numbers of its columns.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().map(|(_, column)| *column)
    }

    /// The value of a row, by the counts of its columns and by its time.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) as for [`Metric::value`], and
    /// if the columns were counted at different times.
    pub fn value(
        &self,
        count: impl Fn(usize) -> Option<u64>,
        nanoseconds: Option<u64>,
    ) -> Result<f64> {
        self.figure(|column| count(column).map(Count::from), nanoseconds).map(|it| it.value)
    }

    /// As [`value`](Self::value), from counts of any kind, and whether it is an estimate.
    ///
    /// # Errors
    /// As there; also where a count is a sum that lacks a part.
    pub fn figure(
        &self,
        count: impl Fn(usize) -> Option<Count>,
        nanoseconds: Option<u64>,
    ) -> Result<Figure> {
        if !self.is_of_one_time {
            let because = "its events were counted at different times";
            return Err(not_computable(self.metric.name(), because));
        }
        self.metric.figure(|name| match name {
            TIME => nanoseconds.map(Count::from),
            _ => self
                .columns
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .and_then(|(_, column)| count(*column)),
        })
    }
}

const TIME: &str = "NANOSECONDS";

/// User mode, as events without a mode count, then the kernel's and both.
const MODES: [&str; 3] = ["", ":k", ":uk"];
