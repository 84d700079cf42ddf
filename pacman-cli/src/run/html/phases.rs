//! The table of phases that the program marks by calls of a tool, a row for each thread.

use super::escape::escaped;
use super::tables::{cell, column, sortable};
use crate::run::report::{PhaseReport, ProcessReport, Thread};
use crate::run::text::{metric, quantity, seconds};
use crate::stat::grouped;

/// The table; empty without phases.
pub(super) fn section(process: &ProcessReport) -> String {
    if process.phases.is_empty() {
        return String::new();
    }
    let mut heading = ["phase", "kind", "thread", "time", "executions", "unended", "cpu", "moves"]
        .map(|name| column(name, ""))
        .concat();
    for (_, event) in process.columns.counted() {
        heading += &column(&event.title(), &event.unit);
    }
    for (title, unit) in process.columns.metrics.titles() {
        heading += &column(&title, unit);
    }
    let rows = process.phases.iter().flat_map(|phase| {
        let threads = phase.threads.iter().zip(&phase.unended);
        threads.map(move |(thread, unended)| row(process, phase, thread, *unended))
    });
    sortable("Phases", HINT, "", &heading, &rows.take(ROWS).collect::<String>())
}

fn row(process: &ProcessReport, phase: &PhaseReport, thread: &Thread, unended: u64) -> String {
    let value = |value: f64, text: &str| format!("<td data-v=\"{value}\">{}</td>", escaped(text));
    let own = &thread.row;
    let mut cells = format!("<th scope=\"row\">{}</th>", escaped(&phase.shown()));
    cells += &cell(Some(phase.kind.word().to_owned()));
    cells += &value(own.thread.into(), &format!("T{}", own.thread));
    cells += &match own.executions {
        0 => cell(None),
        _ => value(own.seconds, &seconds(own.seconds)),
    };
    cells += &value(own.executions as f64, &grouped(own.executions));
    cells += &value(unended as f64, &grouped(unended));
    cells += &cell(own.cpu.map(|cpu| cpu.to_string()));
    cells += &value(own.moves as f64, &grouped(own.moves));
    for (at, event) in process.columns.counted() {
        let count = thread.figures.counts[at];
        let text = quantity(count, &event.unit);
        cells += &count.map_or_else(|| cell(None), |count| value(count.value as f64, &text));
    }
    for figure in &thread.figures.metrics {
        cells += &figure.map_or_else(|| cell(None), |figure| value(figure, &metric(figure)));
    }
    format!("<tr>{cells}</tr>")
}

const HINT: &str = "<p class=\"hint\">The program marks phases by calls of a tool. Time and \
    counts of a phase are those of the thread alone. Phases may be inside each other.</p>";

/// A browser shows more only slowly.
const ROWS: usize = 1_000;
