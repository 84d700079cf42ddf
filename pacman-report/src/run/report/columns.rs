//! The events of a process, and what follows from their counts.

use std::collections::BTreeMap;

use pacman_core::report::{DOUBTED, zero_count_warnings};
use pacman_events::shown::shown;
use pacman_metrics::language::Count as Sum;
use pacman_regions::{EventFacts, Overhead};
use serde::Serialize;

use crate::derived::Metrics;
use crate::words::grouped;

/// The counted events, and the library's metrics that follow from them.
#[derive(Debug)]
pub struct Columns {
    /// The counted events.
    pub events: Vec<Column>,
    pub(in crate::run) metrics: Metrics,
    /// The events that were counted at the same time, as numbers; several lists if sets took turns.
    pub(in crate::run) sets: Vec<Vec<usize>>,
    /// Seconds that observing an execution takes on a thread.
    overhead: f64,
}

/// One event.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Column {
    /// Name as asked.
    pub(in crate::run) name: String,
    /// Unit of one count.
    pub(in crate::run) unit: String,
    /// Reason if it was not counted.
    pub(in crate::run) uncounted: Option<String>,
    /// Reason why all counts may be wrong.
    pub(in crate::run) doubt: Option<String>,
    /// Installed table that gave the event its code, with its lists; null for a code of another origin.
    pub(in crate::run) table: Option<String>,
    /// The count of an execution with an empty body, which is that of the readings themselves; null if it was not
    /// measured.
    #[serde(rename = "reading_count")]
    pub(in crate::run) reading: Option<u64>,
    /// The name that metrics know it by.
    #[serde(skip)]
    canonical: String,
    #[serde(skip)]
    hardware: bool,
    /// It is in a process whose sets took turns.
    #[serde(skip)]
    pub(in crate::run) rotates: bool,
}

/// A sum of counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The sum, or an estimate of it.
    pub value: u64,
    /// No execution is missing in it.
    pub is_complete: bool,
    /// The part of the executions in which the event was counted, below 1 for an estimate.
    pub(in crate::run) share: f64,
    /// Half of the interval of an estimate, 0 otherwise.
    pub(in crate::run) margin: f64,
    /// The part of it that the readings of the counters themselves make: each counts what it takes.
    /// `None` where that was not measured.
    pub(in crate::run) readings: Option<f64>,
}

impl Count {
    /// Whether most of it is of the readings, so that it says little about the program.
    pub(in crate::run) fn is_mostly_readings(&self) -> bool {
        self.readings.is_some_and(|share| share > 0.5)
    }
}

/// Counts of a thread, or of all threads of a region.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// One an event; `None` where it was not counted, or its interval is wider than the count.
    pub counts: Vec<Option<Count>>,
    /// The part of the executions in which each event was counted.
    pub(in crate::run) shares: Vec<f64>,
    /// Counts for each second of thread time inside the region. `None` for an incomplete count, for one that is
    /// mostly of the readings, if observing the executions takes longer than the executions, or if a clock counted
    /// more than the time.
    pub(in crate::run) rates: Vec<Option<f64>>,
    /// One a metric; `None` where it has no value.
    pub(in crate::run) metrics: Vec<Option<f64>>,
}

impl Columns {
    /// `sets` is empty if no sets took turns.
    pub(super) fn of(
        events: &[pacman_regions::Event],
        sets: &[Vec<usize>],
        overhead: &Overhead,
    ) -> Columns {
        let events: Vec<Column> = events
            .iter()
            .enumerate()
            .map(|(at, event)| {
                let EventFacts { canonical, unit, is_hardware, doubt, table } = event.facts.clone();
                Column {
                    name: event.name.clone(),
                    doubt,
                    table: table.map(|table| shown(&table).to_string()),
                    canonical,
                    // Anybody may have written the recording.
                    unit: shown(&unit).to_string(),
                    hardware: is_hardware,
                    uncounted: event.uncounted.clone(),
                    reading: overhead.counts.get(at).copied().flatten(),
                    rotates: sets.len() > 1,
                }
            })
            .collect();
        let counted = events.iter().enumerate().filter(|(_, event)| event.uncounted.is_none());
        let sets = match sets {
            [] => vec![counted.map(|(at, _)| at).collect()],
            several => several.to_vec(),
        };
        // Reading the metrics takes as long as the rest of a short report.
        let metrics = if events.is_empty() {
            Metrics::default()
        } else {
            let doubted = (0..events.len()).filter(|at| events[*at].doubt.is_some()).collect();
            let is =
                |event: &Column, name: &str| event.uncounted.is_none() && event.is_called(name);
            Metrics::over(&sets, doubted, |name| events.iter().position(|event| is(event, name)))
        };
        let overhead = overhead.nanoseconds.unwrap_or(0.0) * 1e-9;
        Columns { events, metrics, sets, overhead }
    }

    /// Whether sets of events took turns, so that counts may be estimates.
    pub fn rotate(&self) -> bool {
        self.sets.len() > 1
    }

    /// Whether these events were counted in the same executions.
    pub(super) fn share_time(&self, events: &[usize]) -> bool {
        let Some((first, others)) = events.split_first() else { return true };
        let is_with = |set: &Vec<usize>| {
            others.iter().all(|other| set.contains(other) == set.contains(first))
        };
        self.sets.iter().all(is_with)
    }

    /// The events that were counted, with their place in figures.
    pub(in crate::run) fn counted(&self) -> Vec<(usize, &Column)> {
        let all = self.events.iter().enumerate();
        all.filter(|(_, event)| event.uncounted.is_none()).collect()
    }

    /// A line about each that was not.
    pub(super) fn uncounted(&self) -> impl Iterator<Item = String> {
        self.events.iter().filter_map(|event| {
            let why = event.uncounted.as_ref()?;
            Some(format!("{} was not counted: {why}", event.name))
        })
    }

    /// Whether the counts of these rows are mainly the region's own. Counts include a part of the
    /// cost of observing, and busy times do not.
    fn outweigh(&self, rows: &[&pacman_regions::Row]) -> bool {
        let observing = |row: &pacman_regions::Row| self.overhead * row.executions as f64;
        rows.iter().map(|row| row.seconds - observing(row)).sum::<f64>() > 0.0
    }

    /// The figures of these rows together.
    pub(super) fn figures(&self, rows: &[&pacman_regions::Row]) -> Figures {
        self.figures_read(rows, rows.iter().copied().map(readings).sum())
    }

    /// As [`figures`](Self::figures), of rows whose counts contain so many readings.
    pub(super) fn figures_read(&self, rows: &[&pacman_regions::Row], readings: u64) -> Figures {
        let complete = rows.iter().all(|row| row.counted == row.executions);
        let counts: Vec<Option<Count>> = (0..self.events.len())
            .map(|event| {
                let of_row = |row: &&pacman_regions::Row| row.counts.get(event).copied().flatten();
                let counts: Vec<u64> = rows.iter().filter_map(of_row).collect();
                let value = counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
                let taken = self.events[event].reading.map(|own| own as f64 * readings as f64);
                (!counts.is_empty()).then(|| Count {
                    value,
                    readings: taken.map(|taken| (taken / (value as f64).max(1.0)).min(1.0)),
                    is_complete: complete && counts.len() == rows.len(),
                    share: share(rows, event),
                    // All threads count the same sets at the same time, so their errors may add up.
                    margin: rows.iter().filter_map(|row| row.margins.get(event)).sum(),
                })
            })
            .collect();
        let seconds: f64 = rows.iter().map(|row| row.seconds).sum();
        let has_rates = self.outweigh(rows);
        let rate = |(count, column): (&Option<Count>, &Column)| {
            let is_possible = |rate: &f64| column.unit != "ns" || *rate <= MOST_OF_A_CLOCK;
            count
                .filter(|count| count.is_complete && has_rates && !count.is_mostly_readings())
                .map(|count| count.value as f64 / seconds)
                .filter(is_possible)
        };
        let time = (complete && has_rates).then_some((seconds * 1e9) as u64);
        let known = |event: usize| {
            counts[event].filter(|count| !count.is_mostly_readings())?;
            self.sum_of(event, rows).map(Sum::from)
        };
        let metrics = self.metrics.values(known, time);
        let rates = counts.iter().zip(&self.events).map(rate).collect();
        let shares = (0..self.events.len()).map(|event| share(rows, event)).collect();
        Figures { rates, metrics, counts, shares }
    }

    /// The number of an event.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.events.iter().position(|event| event.is_called(name))
    }

    /// The sum of an event over rows that all counted it.
    pub(super) fn sum(&self, name: &str, rows: &[&pacman_regions::Row]) -> Option<u64> {
        self.sum_of(self.place(name)?, rows)
    }

    fn sum_of(&self, at: usize, rows: &[&pacman_regions::Row]) -> Option<u64> {
        // All events of a set are counted together or not at all.
        let counts = rows.iter().map(|row| row.counts.get(at).copied().flatten());
        counts.reduce(|sum, count| Some(sum?.saturating_add(count?)))?
    }

    /// The line about counts that are mostly of the readings, if some of these figures have one.
    fn note_on_readings<'a>(&self, all: impl IntoIterator<Item = &'a Figures>) -> Option<String> {
        let of = |figures: &'a Figures| {
            let each = figures.counts.iter().zip(&self.events);
            each.filter(|(count, _)| count.is_some_and(|count| count.is_mostly_readings()))
        };
        let names: BTreeMap<&str, u64> = all
            .into_iter()
            .flat_map(of)
            .filter_map(|(_, event)| Some((event.name.as_str(), event.reading?)))
            .collect();
        let each: Vec<String> =
            names.iter().map(|(name, count)| format!("{} {name}", grouped(*count))).collect();
        (!each.is_empty()).then(|| {
            format!(
                "{MOSTLY_READINGS}  most of the count is of the readings that observe the region, not of the \
                 program: an execution without any work counts {}",
                each.join(", ")
            )
        })
    }

    /// Lines about events that were not counted, or of which it is doubtful, in these figures and their total.
    pub(super) fn notes<'a>(
        &self,
        total: &Figures,
        all: impl IntoIterator<Item = &'a Figures>,
    ) -> Vec<String> {
        let mut notes: Vec<String> = self.uncounted().collect();
        if self.rotate() {
            notes.push(format!(
                "(%)  estimate: the events do not fit on the counters at once, so {} sets take turns; \
                 counted in this part of the executions and scaled to all of them. The true count is \
                 within the ± in 95 of 100 cases, unless an execution that was not counted had a greater rate than \
                 all that were; - stands where the ± is more than the count",
                self.sets.len()
            ));
        }
        notes.extend(self.note_on_readings(all));
        let doubt = self.events.iter().find_map(|event| event.doubt.as_ref());
        notes.extend(doubt.map(|doubt| format!("{DOUBTED}  may be wrong: {doubt}")));
        let counted = self.hardware(total);
        let counted: Vec<(&str, u64)> =
            counted.iter().map(|(_, name, count)| (name.as_str(), *count)).collect();
        notes.extend(zero_count_warnings(&counted));
        notes
    }

    /// The hardware events with their numbers and their counts in these figures.
    pub(super) fn hardware(&self, total: &Figures) -> Vec<(usize, String, u64)> {
        let all = self.events.iter().zip(&total.counts).enumerate();
        all.filter(|(_, (event, _))| event.hardware)
            .filter_map(|(at, (event, count))| Some((at, event.name.clone(), (*count)?.value)))
            .collect()
    }
}

impl Column {
    /// Its name, with a mark if its counts may be wrong.
    pub fn title(&self) -> String {
        format!("{}{}", self.name, if self.doubt.is_some() { DOUBTED } else { "" })
    }

    fn is_called(&self, name: &str) -> bool {
        self.canonical.eq_ignore_ascii_case(name) || self.name.eq_ignore_ascii_case(name)
    }
}

/// The part of the executions of these rows in which an event was counted.
fn share(rows: &[&pacman_regions::Row], event: usize) -> f64 {
    let all: u64 = rows.iter().map(|row| row.executions).sum();
    let counted: u64 = rows
        .iter()
        .map(|row| row.counted_by_event.get(event).copied().unwrap_or(row.executions))
        .sum();
    if all > 0 { counted as f64 / all as f64 } else { 1.0 }
}

/// The readings in the counts of a row. The end of one and the begin of another make one of an execution; each wait
/// inside has two of its own.
pub(super) fn readings(row: &pacman_regions::Row) -> u64 {
    row.counted.saturating_add(waits(row).saturating_mul(2))
}

/// The waits whose counts were read.
pub(super) fn waits(row: &pacman_regions::Row) -> u64 {
    let states = row.states.as_ref().filter(|states| states.counted > 0);
    let waits = states.iter().flat_map(|states| &states.waits).map(|wait| wait.count);
    waits.fold(0, u64::saturating_add)
}

/// The mark behind a count that is mostly of the readings.
pub(in crate::run) const MOSTLY_READINGS: &str = "!";

/// The most nanoseconds that a thread's clock counts in a second. A clock beyond it contains the cost
/// of observing; two clocks may differ by a percent.
const MOST_OF_A_CLOCK: f64 = 1.01e9;
