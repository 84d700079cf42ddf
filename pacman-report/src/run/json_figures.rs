//! Counts, rates and metrics of the JSON report.

#[cfg(test)]
use std::collections::BTreeMap;

#[cfg(test)]
use crate::tests::schemas::foreign::Share;

use serde::Serialize;

use super::report::{self, Columns, Thread};
use crate::document::{ByName, Quotient};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Figures<C, S, N, O, R, M> {
    /// Counts by name of the event; null where absent.
    counts: C,
    /// Part of the executions in which each event was counted, by name: below 1 its count is an
    /// estimate, at 0 it has none; null if all events were counted at once.
    counted_shares: Option<S>,
    /// Half of the interval of each count, by name: the true count is in it in 95 of 100 cases at least; null if all
    /// events were counted at once.
    margins: Option<N>,
    /// Part of each count that [the readings themselves](observe.md#counts-of-readings) make, by name: above 0.5 the
    /// count says little about the program; null without a count.
    reading_shares: O,
    /// False if executions lack counts.
    complete: bool,
    /// Counts in a second, by name of the event; null if there is
    /// [no such figure](observe.md#meaning-of-the-figures).
    rates: R,
    /// Values by name of the metric; null where absent.
    metrics: M,
}

/// The figures as a reader sees them.
#[cfg(test)]
pub(crate) type Written = Figures<
    BTreeMap<String, Option<u64>>,
    BTreeMap<String, Share>,
    BTreeMap<String, Option<f64>>,
    BTreeMap<String, Option<Share>>,
    BTreeMap<String, Option<f64>>,
    BTreeMap<String, Option<f64>>,
>;

/// The place and the executions of a thread in a region or a phase.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ThreadFacts<'a> {
    /// Number in the team; of a phase the number among the threads with phases, which is that in a team if it was
    /// free.
    thread: u32,
    /// Executions that it took part in and that ended.
    executions: u64,
    /// The kernel's number of the context at the latest sample.
    cpu: Option<u32>,
    /// Samples on another context than before.
    moves: u64,
    /// Number of the package; null if it is not known or the thread moved.
    package: Option<u32>,
    /// Number of the core in its package; null like that.
    core: Option<u32>,
    /// Number of the context on its core; null like that.
    sibling: Option<u32>,
    /// Executions with counts.
    counted: u64,
    /// Reason why its counts were left out, or null: no processor can have counted them in that time.
    implausible: Option<&'a str>,
}

impl ThreadFacts<'_> {
    pub(super) fn of(thread: &Thread) -> ThreadFacts<'_> {
        let row = &thread.row;
        ThreadFacts {
            thread: row.thread,
            executions: row.executions,
            cpu: row.cpu,
            moves: row.moves,
            package: thread.seat.map(|seat| seat.package),
            core: thread.seat.map(|seat| seat.core),
            sibling: thread.seat.map(|seat| seat.sibling),
            counted: row.counted,
            implausible: thread.implausible.as_deref(),
        }
    }
}

/// JSON shows absent values as null.
pub(super) fn figures<'a>(
    columns: &'a Columns,
    figures: &'a report::Figures,
) -> impl Serialize + 'a {
    let names = || columns.events.iter().map(|event| &event.name);
    let counts = || figures.counts.iter().map(|count| count.map(|count| count.value));
    let shares = || figures.shares.iter().copied().map(Quotient);
    let rates = || figures.rates.iter().map(|rate| rate.map(Quotient));
    let margins = || figures.counts.iter().map(|count| count.map(|count| Quotient(count.margin)));
    let readings =
        || figures.counts.iter().map(|count| count.and_then(|count| count.readings).map(Quotient));
    let values = || figures.metrics.iter().map(|value| value.map(Quotient));
    let metrics = || columns.metrics.list().map(|metric| metric.name());
    Figures {
        counts: ByName(move || names().zip(counts())),
        counted_shares: columns.rotate().then_some(ByName(move || names().zip(shares()))),
        margins: columns.rotate().then_some(ByName(move || names().zip(margins()))),
        reading_shares: ByName(move || names().zip(readings())),
        complete: figures.counts.iter().flatten().all(|count| count.is_complete),
        rates: ByName(move || names().zip(rates())),
        metrics: ByName(move || metrics().zip(values())),
    }
}
