//! The answer for people: a row for each thread, siblings one below the other.

use pacman_events::plural::{self, number};
use std::time::Duration;

use pacman_core::export::grid::{Column, Grid, fitted};
use pacman_events::shown::command_line;

use super::answer::{Answer, By, Interval, census};
use super::figures::{Columns, Figures, Row, Who, cores};
use super::grouping::top;
use super::slots;
use crate::exit::Exit;
use crate::words::{clean, grouped, metric};

/// The block of one interval.
pub(super) fn part(answer: &Answer, interval: Interval, rows: &[Row]) -> String {
    let (begin, end) = (interval.begin.as_secs_f64(), interval.end.as_secs_f64());
    format!("{begin:.3} to {end:.3} s\n{}\n", table(answer, rows, &[]))
}

/// The block of the whole run, with what must be known to read it.
pub(super) fn whole(
    answer: &Answer,
    interval: Interval,
    rows: &[Row],
    summaries: &[Row],
    exit: Option<Exit>,
) -> String {
    let heading = heading(answer, interval.end, rows, exit);
    let mut text = format!("{heading}\n\n{}", table(answer, rows, summaries));
    let mut notes: Vec<String> = Vec::new();
    if answer.simulated {
        notes.push(
            "SIMULATED: these counts come from a simulated machine, not from this one".into(),
        );
    }
    if answer.columns.rotate() {
        notes.push(rotated(&answer.columns));
    }
    if let Some(number) = answer.top.filter(|number| *number < rows.len()) {
        let first = answer.columns.events.first().map_or("time", |event| event.name.as_str());
        notes.push(format!(
            "the {number} of {} rows with the most {first}; the total is of all",
            rows.len()
        ));
    }
    if answer.is_grouped {
        notes.push(GROUPED.into());
    }
    if rows.iter().any(|row| row.moved) {
        notes.push(MOVED_MEANS.into());
    }
    if rows.iter().any(|row| row.figures.missing > 0) {
        notes.push("-  no count; sums are over those that have one (>=)".into());
    }
    notes.extend(rows.iter().flat_map(Row::told).map(|note| clean(&note)));
    notes.extend(answer.notes.iter().map(|note| clean(note)));
    if !notes.is_empty() {
        text.push('\n');
    }
    let more = notes.len().saturating_sub(NOTES);
    notes.truncate(NOTES);
    for note in notes {
        text.push_str(&format!("{note}\n"));
    }
    if more > 0 {
        text.push_str(&format!(
            "{} {} left out here; --json has all\n",
            number(more, "more note"),
            plural::is(more)
        ));
    }
    fitted(&text, answer.width)
}

/// The line below the table that explains the percentages beside counts.
fn rotated(columns: &Columns) -> String {
    format!(
        "(%)  estimate: the events do not fit on the counters at once, so the kernel rotates {} sets; \
         counted for this part of the thread's time and scaled to all of it",
        columns.sets.len()
    )
}

fn heading(answer: &Answer, elapsed: Duration, rows: &[Row], exit: Option<Exit>) -> String {
    let mut parts = Vec::new();
    parts.extend(answer.process.map(|_| answer.subject()));
    if !answer.command.is_empty() {
        parts.push(clip(&command_line(&answer.command)));
    }
    parts.push(format!("{:.3} s", elapsed.as_secs_f64()));
    if let Some(usage) = answer.usage {
        parts.push(format!("{:.3} s user", usage.user.as_secs_f64()));
        parts.push(format!("{:.3} s system", usage.system.as_secs_f64()));
        parts.extend(usage.cpus(elapsed).map(|cpus| format!("{cpus:.3} CPUs used")));
    }
    match answer.by {
        By::Thread => {
            let (threads, processes) = census(rows);
            parts.push(number(threads, "thread"));
            if processes > 1 {
                parts.push(format!("{processes} processes"));
            }
        }
        By::Core { of_contexts } => {
            let members = rows.iter().map(|row| match row.who {
                Who::Core { rows } => rows,
                _ => 1,
            });
            let member = if of_contexts { "context" } else { "thread" };
            parts.push(number(members.sum::<usize>(), member));
        }
        By::Command => {
            let of = |row: &Row| match row.who {
                Who::Command { processes, threads, .. } => (threads, processes),
                _ => (0, 0),
            };
            parts.push(number(rows.iter().map(|row| of(row).0).sum::<usize>(), "thread"));
            parts.push(number(rows.iter().map(|row| of(row).1).sum::<usize>(), "process"));
        }
        By::Run => parts.push(number(rows.len(), "run")),
        By::Context => parts.push(number(rows.len(), "context")),
    }
    let on = cores(rows).filter(|core| core[0].seat.is_some()).count();
    if on > 0 {
        parts.push(number(on, "core"));
    }
    match exit {
        Some(Exit::Status(0)) => {}
        Some(exit) => parts.push(exit.to_string()),
        None if answer.command.is_empty() || answer.process.is_some() => {}
        None => parts.push("interrupted".into()),
    }
    parts.join(", ")
}

fn table(answer: &Answer, rows: &[Row], summaries: &[Row]) -> String {
    let columns = &answer.columns;
    let keys: &[&str] = match answer.by {
        By::Thread => &["core", "cpu", "pid", "tid", "thread"],
        By::Core { of_contexts: false } => &["core", "threads"],
        By::Core { of_contexts: true } => &["core", "contexts"],
        By::Context => &["core", "cpu"],
        By::Command => &["processes", "threads", "command"],
        By::Run => &["run"],
    };
    let is_run = answer.by == By::Run;
    let used = ["user", "system"].map(|name| Column::right(name, "s"));
    let used = used.into_iter().filter(|_| is_run);
    let key = |name: &&str| Column {
        left: ["thread", "command"].contains(name),
        ..Column::right(name, "")
    };
    let mut grid = Grid::new(keys.iter().map(key).chain(headings(columns)).chain(used).collect());
    grid.keys = keys.len();
    let summed = |name: String, figures: &Figures| {
        let mut texts = vec![String::new(); keys.len()];
        texts[keys.len() - 1] = name;
        [texts, cells(columns, figures)].concat()
    };
    let several = cores(rows).count() > 1;
    let most = answer.top.map(|number| top(rows, number)).unwrap_or_default();
    for row in most {
        let texts = row_keys(answer.by, row, true);
        grid.row([texts, cells(columns, &row.figures)].concat());
    }
    for core in cores(rows).filter(|_| answer.top.is_none()) {
        for (position, row) in core.iter().enumerate() {
            let texts = row_keys(answer.by, row, position == 0);
            grid.row([texts, cells(columns, &row.figures), usage_cells(row)].concat());
        }
        if let (true, true, Some(seat)) = (core.len() > 1, several, core[0].seat) {
            let sum = Figures::sum(core.iter().map(|row| &row.figures));
            let mark = if core.iter().any(|row| row.moved) { MOVED } else { "" };
            grid.row(summed(format!("core {}{mark}", seat.core), &sum));
        }
    }
    for (number, row) in summaries.iter().enumerate() {
        let texts = row_keys(answer.by, row, true);
        let texts = [texts, cells(columns, &row.figures), usage_cells(row)].concat();
        if number == 0 { grid.total(texts) } else { grid.row(texts) }
    }
    if rows.len() > 1 && !is_run {
        let total = Figures::sum(rows.iter().map(|row| &row.figures));
        grid.total(summed("total".into(), &total));
    }
    grid.text(answer.width)
}

fn row_keys(by: By, row: &Row, first: bool) -> Vec<String> {
    let unknown = || "?".to_string();
    let mark = if row.moved { MOVED } else { "" };
    let core = row.seat.map_or_else(unknown, |seat| seat.core.to_string());
    let core = if first || row.seat.is_none() { core } else { String::new() };
    let cpu = row.seat.map_or_else(unknown, |seat| seat.cpu.to_string());
    match (&row.who, by) {
        (Who::Thread { number, pid, tid, name }, _) => vec![
            core,
            format!("{cpu}{mark}"),
            pid.to_string(),
            tid.to_string(),
            format!("T{number} {}", clean(name)),
        ],
        (Who::Core { rows }, _) => vec![format!("{core}{mark}"), rows.to_string()],
        (Who::Context, _) => vec![core, cpu],
        (Who::Command { name, processes, threads }, _) => {
            vec![processes.to_string(), threads.to_string(), clean(name)]
        }
        (Who::Run(run), _) => vec![run.label.clone()],
    }
}

/// The last cells of a run's row.
fn usage_cells(row: &Row) -> Vec<String> {
    let Who::Run(run) = &row.who else { return Vec::new() };
    let time = |time: Duration| format!("{:.3}", time.as_secs_f64());
    match run.usage {
        Some(usage) => vec![time(usage.user), time(usage.system)],
        None => vec!["-".into(), "-".into()],
    }
}

/// Names and units of the figures.
fn headings(columns: &Columns) -> Vec<Column> {
    let event = |event: &super::figures::Column| {
        let unit = if event.unit == "ns" { "ms" } else { event.unit };
        Column::right(&clean(&event.title()), unit)
    };
    let titles: Vec<(String, &str)> = columns.metrics.titles().collect();
    let metrics = beside_slots(columns).map(|at| Column::right(&titles[at].0, ""));
    let metrics = metrics.chain([Column::right("time", "s")]);
    columns.events.iter().map(event).chain(slots::headings(columns)).chain(metrics).collect()
}

/// The metrics that have no column among those of the slots.
fn beside_slots(columns: &Columns) -> impl Iterator<Item = usize> + '_ {
    let metrics = columns.metrics.list().enumerate();
    metrics.filter(|(_, metric)| !slots::shows(columns, metric.name())).map(|(at, _)| at)
}

fn cells(columns: &Columns, figures: &Figures) -> Vec<String> {
    let absent = || "-".to_string();
    let at_least = if figures.missing > 0 { ">=" } else { "" };
    let mut cells: Vec<String> = match &figures.counts {
        Some(counts) => counts
            .iter()
            .zip(&columns.events)
            .map(|(count, event)| {
                let Some(value) = count.value() else { return absent() };
                let share = match count.share() {
                    1.0 => String::new(),
                    share => format!(" ({:.1}%)", 100.0 * share),
                };
                match event.unit {
                    "ns" => format!("{at_least}{:.3}{share}", value as f64 / 1e6),
                    _ => format!("{at_least}{}{share}", grouped(value)),
                }
            })
            .collect(),
        None => columns.events.iter().map(|_| absent()).collect(),
    };
    cells.extend(slots::cells(columns, figures));
    let derived = columns.derive(figures);
    cells.extend(beside_slots(columns).map(|at| derived[at].map_or_else(absent, metric)));
    cells.push(format!("{:.3}", figures.time.as_secs_f64()));
    cells
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(COMMAND) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_string(),
    }
}

/// Letters of the command in the heading.
const COMMAND: usize = 60;
/// Notes below the table.
const NOTES: usize = 24;
/// The mark of a thread that ran elsewhere too.
const MOVED: &str = "*";
const GROUPED: &str =
    "processes of one command are one row; --per-thread has a row for each thread";
const MOVED_MEANS: &str = "*  ran on other CPUs too; its whole count stands where it was seen last";
