//! Rows of counts, their sums, and what follows from them.

#[cfg(test)]
mod tests;

use std::time::Duration;

use pacman_core::Event;
use pacman_core::report::{DOUBTED, implausible, zero_count_warnings};
use pacman_core::topology::Context;
use pacman_metrics::language::Count as Counted;
use serde::Serialize;

use super::count::Count;
use super::usage::Usage;
use crate::derived::Metrics;
use crate::exit::Exit;
use crate::implausible::note;

/// The data that all rows share.
#[derive(Debug)]
pub struct Columns {
    /// The events.
    pub events: Vec<Column>,
    /// The events that were counted at the same time, as numbers; several lists if sets rotated.
    pub sets: Vec<Vec<usize>>,
    /// The metrics that follow from them.
    pub(super) metrics: Metrics,
}

/// One counted event.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Column {
    /// Name as asked.
    pub name: String,
    /// Unit of one count.
    pub unit: &'static str,
    /// True if a hardware counter counts it.
    pub hardware: bool,
    /// Reason why all counts may be wrong.
    pub doubt: Option<&'static str>,
    /// Installed table that gave the event its code, with its lists; null for a code of another origin.
    pub table: Option<String>,
}

impl Column {
    /// Its name, with a mark if its counts may be wrong.
    pub fn title(&self) -> String {
        format!("{}{}", self.name, if self.doubt.is_some() { DOUBTED } else { "" })
    }
}

/// The place at which a row's figures were counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat {
    /// Number of the package.
    pub package: u32,
    /// Number of the core in its package.
    pub core: u32,
    /// Number of the context on its core.
    pub sibling: u32,
    /// The kernel's number of the context.
    pub cpu: u32,
}

/// The facts of one run, or of a summary over runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its number from 1, or the name of the summary.
    pub label: String,
    /// From the begin of the first run, without the time between runs.
    pub begin: Duration,
    /// The processor time of the command.
    pub usage: Option<Usage>,
    /// The end of the command; `None` for a summary.
    pub exit: Option<Exit>,
}

/// The owner of the figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Who {
    /// A thread.
    Thread {
        /// From 0, in the order in which they were seen.
        number: usize,
        /// Its process.
        pid: i32,
        /// The kernel's number.
        tid: i32,
        /// Its latest name.
        name: String,
    },
    /// All that ran on a hardware context.
    Context,
    /// All that ran on a core, with the number of threads or contexts.
    Core {
        /// Threads or contexts.
        rows: usize,
    },
    /// The processes that a command had at its end.
    Command {
        /// The name of the processes' first threads.
        name: String,
        /// The number of its processes.
        processes: usize,
        /// The number of their threads.
        threads: usize,
    },
    /// A run of the command.
    Run(Run),
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The owner.
    pub who: Who,
    /// The place, if it is known.
    pub seat: Option<Seat>,
    /// It could not be elsewhere.
    pub bound: bool,
    /// It was elsewhere too, and its figures with it.
    pub moved: bool,
    /// The counts and the time.
    pub figures: Figures,
    /// Facts about this row.
    pub notes: Vec<String>,
    /// Why its counts were left out, if they were.
    pub implausible: Option<String>,
}

/// Counts of one row or of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// One an event; `None` where the counters could not be had.
    pub counts: Option<Vec<Count>>,
    /// The counted time, summed over rows.
    pub time: Duration,
    /// Rows without counts that the sum lacks.
    pub missing: usize,
    /// Set for medians and the like: the median of IPC is not the quotient of median counts.
    pub derived: Option<Vec<Option<f64>>>,
}

impl Columns {
    /// The columns of `events`. `doubt` is the reason why hardware counts may be wrong.
    pub fn of(events: &[Event], doubt: Option<&'static str>) -> Columns {
        let column = |event: &Event| Column {
            name: event.name().to_string(),
            unit: event.unit(),
            hardware: event.is_hardware(),
            doubt: doubt.filter(|_| event.is_hardware()),
            table: event.installed_table(),
        };
        Columns::new(events.iter().map(column).collect())
    }

    /// The columns of these events, which were counted at the same time.
    pub fn new(events: Vec<Column>) -> Columns {
        let all = (0..events.len()).collect();
        let columns = Columns { events, sets: Vec::new(), metrics: Metrics::default() };
        columns.in_sets(vec![all])
    }

    /// The same columns, counted in these sets.
    pub fn in_sets(self, sets: Vec<Vec<usize>>) -> Columns {
        let events = self.events;
        let find = |name: &str| events.iter().position(|event| event.name == name);
        let doubted = (0..events.len()).filter(|at| events[*at].doubt.is_some()).collect();
        Columns { metrics: Metrics::over(&sets, doubted, find), sets, events }
    }

    /// Whether sets of events rotated, so that counts may be estimates.
    pub fn rotate(&self) -> bool {
        self.sets.len() > 1
    }

    /// Whether two events were counted at the same times.
    pub fn share_time(&self, one: usize, other: usize) -> bool {
        self.sets.iter().all(|set| set.contains(&one) == set.contains(&other))
    }

    /// The metrics of a row; a sum that lacks a row has none.
    pub fn derive(&self, figures: &Figures) -> Vec<Option<f64>> {
        if let Some(derived) = &figures.derived {
            return derived.clone();
        }
        let lacks = figures.missing > 0;
        let counts = figures.counts.as_deref();
        let count = |event: usize| {
            let value = counts?[event].value()?;
            Some(Counted::from(value).lacking_a_part(lacks))
        };
        let time = u64::try_from(figures.time.as_nanos()).ok();
        self.metrics.values(count, time.filter(|_| counts.is_some()))
    }

    /// Takes events that never moved as absent in metrics, and returns a warning about each.
    pub fn leave_out_unmoved(&mut self, total: &Figures) -> Vec<String> {
        let Some(counts) = &total.counts else { return Vec::new() };
        let hardware = self.events.iter().zip(counts).enumerate();
        let hardware = hardware.filter(|(_, (event, _))| event.hardware);
        let counts: Vec<(usize, &str, u64)> = hardware
            .filter_map(|(at, (event, count))| Some((at, event.name.as_str(), count.value()?)))
            .collect();
        self.metrics.leave_out_unmoved(&counts);
        let counts: Vec<(&str, u64)> =
            counts.iter().map(|(_, name, count)| (*name, *count)).collect();
        zero_count_warnings(&counts)
    }
}

impl Columns {
    /// Removes the counts of rows that no processor can have counted in their time, and notes why.
    pub fn leave_out(&self, rows: &mut [Row]) {
        let events: Vec<(&str, &str, bool)> = self
            .events
            .iter()
            .map(|event| (event.name.as_str(), event.unit, event.hardware))
            .collect();
        for row in rows {
            let Some(counts) = &row.figures.counts else { continue };
            let time = u64::try_from(row.figures.time.as_nanos()).unwrap_or(u64::MAX);
            let raw: Vec<u64> = counts.iter().map(|count| count.raw).collect();
            if let Some(why) = implausible(&events, time, &raw) {
                row.figures.counts = None;
                row.figures.missing = 1;
                row.notes.push(note(&why));
                row.implausible = Some(why);
            }
        }
    }
}

impl Seat {
    /// The place of a hardware context.
    pub fn of(context: &Context) -> Seat {
        Seat {
            package: context.package,
            core: context.core,
            sibling: context.sibling,
            cpu: context.cpu,
        }
    }
}

impl Figures {
    /// The sum of several; counts that are not there are missed, not 0.
    pub fn sum<'a>(rows: impl Iterator<Item = &'a Figures>) -> Figures {
        let mut sum = Figures::default();
        for row in rows {
            sum.time += row.time;
            sum.missing += row.missing;
            match (&mut sum.counts, &row.counts) {
                (Some(sums), Some(counts)) => {
                    for (sum, count) in sums.iter_mut().zip(counts) {
                        *sum = sum.plus(*count);
                    }
                }
                (None, Some(counts)) => sum.counts = Some(counts.clone()),
                (_, None) => sum.missing += usize::from(row.missing == 0),
            }
        }
        sum
    }
}

/// Sorts rows by package, core and sibling, so that siblings are next to each other. Rows without a
/// known place come last.
pub(super) fn seated(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| (row.seat.is_none(), row.seat));
    rows
}

/// Runs of seated rows that belong to one core.
pub(super) fn cores(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    let core = |row: &Row| row.seat.map(|seat| (seat.package, seat.core));
    rows.chunk_by(move |one, other| core(one).is_some() && core(one) == core(other))
}

/// One row a core in place of those of its threads.
pub(super) fn by_core(rows: &[Row]) -> Vec<Row> {
    cores(rows)
        .map(|of_core| Row {
            who: Who::Core { rows: of_core.len() },
            seat: of_core[0].seat,
            bound: of_core.iter().all(|row| row.bound),
            moved: of_core.iter().any(|row| row.moved),
            figures: Figures::sum(of_core.iter().map(|row| &row.figures)),
            notes: of_core.iter().flat_map(Row::told).collect(),
            implausible: None,
        })
        .collect()
}

impl Row {
    /// Its notes, with whom they are about.
    pub fn told(&self) -> Vec<String> {
        let who = match &self.who {
            Who::Thread { number, .. } => format!("T{number}: "),
            Who::Run(run) => format!("run {}: ", run.label),
            // Those of its threads have their names.
            Who::Context | Who::Core { .. } | Who::Command { .. } => String::new(),
        };
        self.notes.iter().map(|note| format!("{who}{note}")).collect()
    }
}
