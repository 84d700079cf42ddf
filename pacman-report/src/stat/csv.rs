//! Rows as CSV.

use std::time::Duration;

use super::answer::{Answer, Interval};
use super::count::Count;
use super::figures::{Columns, Row, Who};
use super::usage;
use crate::records::csv;

/// The names of the columns.
pub(super) fn heading(columns: &Columns) -> String {
    let events = columns.events.iter().map(|event| format!("{} [{}]", event.title(), event.unit));
    let fixed = FIXED.iter().chain(&usage::COLUMNS).map(|name| name.to_string());
    let shares = columns.events.iter().filter(|_| columns.rotate());
    let shares = shares.map(|event| format!("{} counted [share]", event.name));
    csv([fixed.chain(events).chain(shares)])
}

/// A line a row.
pub(super) fn rows(answer: &Answer, interval: Interval, rows: &[Row]) -> String {
    csv(rows.iter().map(|row| fields(answer, interval, row)))
}

fn fields(answer: &Answer, interval: Interval, row: &Row) -> Vec<String> {
    let nothing = String::new;
    let (number, pid, tid, name, rows) = match &row.who {
        Who::Thread { number, pid, tid, name } => {
            (number.to_string(), pid.to_string(), tid.to_string(), name.clone(), nothing())
        }
        Who::Context | Who::Command { .. } => {
            (nothing(), nothing(), nothing(), nothing(), nothing())
        }
        Who::Core { rows } => (nothing(), nothing(), nothing(), nothing(), rows.to_string()),
        Who::Run(run) => (nothing(), nothing(), nothing(), run.label.clone(), nothing()),
    };
    let of_core = matches!(row.who, Who::Core { .. });
    let at = |field: Option<u32>| field.map_or_else(nothing, |value| value.to_string());
    // An interval has no share of the command's time.
    let mut used = answer.usage.filter(|_| interval.number.is_none());
    let mut span = Some((interval.begin, interval.end));
    if let Who::Run(run) = &row.who {
        // A summary is at no time.
        span = run.exit.map(|_| (run.begin, run.begin + row.figures.time));
        used = run.usage;
    }
    let took = span.map_or(Duration::ZERO, |(begin, end)| end.saturating_sub(begin));
    let mut fields = vec![
        span.map_or_else(nothing, |(begin, _)| nanos(begin)),
        span.map_or_else(nothing, |(_, end)| nanos(end)),
        answer.by.id().to_string(),
        number,
        pid,
        tid,
        name,
        rows,
        at(row.seat.map(|seat| seat.package)),
        at(row.seat.map(|seat| seat.core)),
        at(row.seat.filter(|_| !of_core).map(|seat| seat.sibling)),
        at(row.seat.filter(|_| !of_core).map(|seat| seat.cpu)),
        row.bound.to_string(),
        row.moved.to_string(),
        nanos(row.figures.time),
        row.implausible.clone().unwrap_or_default(),
    ];
    fields.extend(usage::fields(used, took));
    match &row.figures.counts {
        Some(counts) => {
            let value = |count: &Count| count.value().map_or_else(nothing, |it| it.to_string());
            fields.extend(counts.iter().map(value));
            let shares = counts.iter().filter(|_| answer.columns.rotate());
            fields.extend(shares.map(|count| count.share().to_string()));
        }
        None => {
            let groups = if answer.columns.rotate() { 2 } else { 1 };
            fields.extend((0..groups * answer.columns.events.len()).map(|_| nothing()));
        }
    }
    fields
}

fn nanos(time: Duration) -> String {
    time.as_nanos().to_string()
}

const FIXED: [&str; 16] = [
    "begin_ns",
    "end_ns",
    "by",
    "thread",
    "pid",
    "tid",
    "name",
    "rows",
    "package",
    "core",
    "sibling",
    "cpu",
    "bound",
    "moved",
    "time_ns",
    "implausible",
];
