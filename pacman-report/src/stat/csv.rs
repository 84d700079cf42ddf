//! Rows as CSV.

use std::time::Duration;

use super::answer::{Answer, Interval};
use super::figures::{Columns, Row, Who};
use super::json::RowFacts;
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
    fn at(field: Option<impl ToString>) -> String {
        field.map_or_else(String::new, |value| value.to_string())
    }
    let facts = RowFacts::of(row);
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
        at(span.map(|(begin, _)| begin.as_nanos())),
        at(span.map(|(_, end)| end.as_nanos())),
        answer.by.id().to_string(),
        at(facts.thread),
        at(facts.pid),
        at(facts.tid),
        at(facts.name.or(facts.run)),
        at(facts.rows),
        at(facts.package),
        at(facts.core),
        at(facts.sibling),
        at(facts.cpu),
        facts.bound.to_string(),
        facts.moved.to_string(),
        row.figures.time.as_nanos().to_string(),
        at(facts.implausible),
    ];
    fields.extend(usage::fields(used, took));
    match &row.figures.counts {
        Some(counts) => {
            fields.extend(counts.iter().map(|count| at(count.value())));
            let shares = counts.iter().filter(|_| answer.columns.rotate());
            fields.extend(shares.map(|count| count.share().to_string()));
        }
        None => {
            let groups = if answer.columns.rotate() { 2 } else { 1 };
            fields.extend((0..groups * answer.columns.events.len()).map(|_| String::new()));
        }
    }
    fields
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
