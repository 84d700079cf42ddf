//! The table of a region's threads: where they were, their time, their counts.

use super::escape::escaped;
use super::order;
use super::tables::{cell, column, sortable};
use super::title::titled;
use crate::run::report::{Figures, ProcessReport, RegionReport, Thread};
use crate::run::text::{metric, quantity, seconds, share};
use crate::stat::grouped;

/// A table for each region with a panel; the page shows the chosen one's.
pub(super) fn section(process: &ProcessReport) -> String {
    let table = |at: usize| {
        let region = &process.regions[at];
        let rows: String =
            region.threads.iter().map(|thread| row(process, region, thread)).collect();
        let title = titled(region);
        let table = sortable("", "", "threads", &heading(process, region), &rows);
        format!("<div data-of=\"{at}\"><p class=\"hint\">{title}</p>{table}</div>")
    };
    let with_threads = |at: &usize| !process.regions[*at].threads.is_empty();
    let tables: String =
        order::shown(process).into_iter().filter(with_threads).map(table).collect();
    if tables.is_empty() {
        return String::new();
    }
    format!("<section class=\"by-thread\"><h2>Threads</h2>{tables}</section>\n")
}

fn heading(process: &ProcessReport, region: &RegionReport) -> String {
    let mut heading = [
        column("thread", ""),
        column("cpu", ""),
        column("core", ""),
        column("beside", "on its core"),
        column("moves", ""),
        column("executions", ""),
        column("busy", ""),
    ]
    .concat();
    if region.states.is_some() {
        heading += &column("useful", "of its time");
        heading += &column("useful", "on no processor");
        heading += &column("waits", "on no processor");
    }
    for (_, event) in process.columns.counted() {
        heading += &column(&event.title(), &event.unit);
    }
    for (title, unit) in process.columns.metrics.titles() {
        heading += &column(&title, unit);
    }
    for state in states(region) {
        for (_, event) in process.columns.counted() {
            heading += &column(&format!("{state} {}", event.title()), &event.unit);
        }
        for (title, unit) in process.columns.metrics.titles() {
            heading += &column(&format!("{state} {title}"), unit);
        }
    }
    heading
}

fn row(process: &ProcessReport, region: &RegionReport, thread: &Thread) -> String {
    let row = &thread.row;
    let seat = thread.seat;
    let beside: Vec<String> = thread.beside.iter().map(|other| format!("T{other}")).collect();
    let why = thread.implausible.as_ref().map_or_else(String::new, |why| {
        format!(" <span class=\"tag\" title=\"{}\">counts left out</span>", escaped(why))
    });
    let mut cells = format!("<th scope=\"row\" data-v=\"{0}\">T{0}{why}</th>", row.thread);
    cells.push_str(&cell(row.cpu.map(|cpu| cpu.to_string())));
    cells.push_str(&cell(seat.map(|seat| seat.core.to_string())));
    cells.push_str(&cell((!beside.is_empty()).then(|| beside.join(" "))));
    cells.push_str(&value(row.moves as f64, &grouped(row.moves)));
    cells.push_str(&value(row.executions as f64, &grouped(row.executions)));
    cells.push_str(&value(row.seconds, &seconds(row.seconds)));
    if let Some(states) = &region.states {
        let own = states.threads.iter().find(|states| states.thread == row.thread);
        cells.push_str(&match own.filter(|own| own.there > 0.0) {
            Some(own) => value(own.useful / own.there, &share(own.useful / own.there)),
            None => cell(None),
        });
        let off = own.map(|own| [own.useful_off, own.waiting_off]).unwrap_or_default();
        for off in off {
            cells.push_str(&off.map_or_else(|| cell(None), |off| value(off, &seconds(off))));
        }
    }
    cells.push_str(&counts(process, Some(&thread.figures)));
    let own = thread.by_state.as_ref().map(|own| [&own.useful, &own.waiting]);
    for at in 0..states(region).len() {
        cells.push_str(&counts(process, own.map(|own| own[at])));
    }
    format!("<tr>{cells}</tr>")
}

/// The states whose counts have columns of their own.
fn states(region: &RegionReport) -> &'static [&'static str] {
    let has_them = region.threads.iter().any(|thread| thread.by_state.is_some());
    if has_them { &["useful", "waiting"] } else { &[] }
}

/// The cells of counts and metrics.
fn counts(process: &ProcessReport, figures: Option<&Figures>) -> String {
    let mut cells = String::new();
    for (at, event) in process.columns.counted() {
        let count = figures.and_then(|figures| figures.counts[at]);
        let text = quantity(count, &event.unit);
        cells.push_str(&count.map_or_else(|| cell(None), |count| value(count.value as f64, &text)));
    }
    for at in 0..process.columns.metrics.list().count() {
        let figure = figures.and_then(|figures| figures.metrics[at]);
        cells.push_str(&figure.map_or_else(|| cell(None), |figure| value(figure, &metric(figure))));
    }
    cells
}

fn value(value: f64, text: &str) -> String {
    format!("<td data-v=\"{value}\">{}</td>", escaped(text))
}
