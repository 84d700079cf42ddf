//! The phases that a program marks by calls of a tool, and their threads.

use pacman_core::export::grid::{Column, Grid};

use super::Extent;
use super::amount::{absent, metric, percent, quantity, seconds};
use super::spread::{IN_FULL, Spread};
use crate::run::report::{Figures, PhaseReport, ProcessReport, Thread};
use crate::words::{clean, grouped};

/// The tables; empty without phases.
pub(super) fn section(process: &ProcessReport, extent: Extent, width: usize) -> String {
    let Extent { is_short, each_thread } = extent;
    let most = if is_short { PHASES } else { usize::MAX };
    let shown = &process.phases[..process.phases.len().min(most)];
    if shown.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}", phases(process, shown).text(width));
    let left_out = process.phases.len() - shown.len();
    if left_out > 0 {
        text.push_str(&super::amount::left_out_here(left_out, "phase"));
    }
    let is_wide = |phase: &&PhaseReport| !each_thread && phase.threads.len() > IN_FULL;
    let (wide, narrow): (Vec<_>, Vec<_>) = shown.iter().partition(is_wide);
    let threads = threads(process, &narrow, if is_short { THREADS } else { usize::MAX });
    for table in [threads, teams(process, &wide)].into_iter().flatten() {
        text.push_str(&format!("\n{}", table.text(width)));
    }
    text
}

fn phases(process: &ProcessReport, shown: &[PhaseReport]) -> Grid {
    let mut heading = vec![
        Column::right("time", "longest"),
        Column::right("executions", ""),
        Column::right("threads", ""),
        Column::right("imbalance", ""),
    ];
    let has_states = shown.iter().any(|phase| phase.useful_and_waiting().is_some());
    if has_states {
        heading.push(Column::right("waiting", "%"));
        heading.push(Column::right("useful on", "processor %"));
    }
    heading.extend(counted(process));
    heading.extend(process.columns.metrics.titles().map(|(title, _)| Column::right(&title, "")));
    heading.extend([Column::left("kind"), Column::label("phase")]);
    let mut table = Grid::new(heading);
    for phase in shown {
        let mut cells = vec![
            if phase.executions > 0 { seconds(phase.seconds) } else { absent() },
            grouped(phase.executions),
            phase.threads.len().to_string(),
            phase.imbalance().map_or_else(absent, |value| format!("{value:.2}")),
        ];
        if has_states {
            let parts = phase.useful_and_waiting().filter(|parts| parts.0 + parts.1 > 0.0);
            cells.push(percent(parts.map(|(useful, waiting)| waiting / (useful + waiting))));
            cells.push(percent(phase.processor_share()));
        }
        cells.extend(counts(process, &phase.figures));
        let metrics = phase.figures.metrics.iter();
        cells.extend(metrics.map(|value| value.map_or_else(absent, metric)));
        cells.extend([phase.kind.word().to_owned(), clean(&phase.shown())]);
        table.row(cells);
    }
    table
}

/// The threads of phases that several threads have.
fn threads(process: &ProcessReport, shown: &[&PhaseReport], most: usize) -> Option<Grid> {
    let mut heading = vec![
        Column::right("thread", ""),
        Column::right("time", ""),
        Column::right("executions", ""),
        Column::right("cpu", ""),
        Column::right("core", ""),
        Column::right("moves", ""),
    ];
    heading.extend(counted(process));
    heading.push(Column::label("phase"));
    let mut table = Grid::new(heading);
    let mut rows = 0;
    for phase in shown.iter().filter(|phase| phase.threads.len() > 1) {
        if rows + phase.threads.len() > most {
            break;
        }
        rows += phase.threads.len();
        for (at, thread) in phase.threads.iter().enumerate() {
            let row = &thread.row;
            let mut cells = vec![
                format!("T{}", row.thread),
                seconds(row.seconds),
                grouped(row.executions),
                row.cpu.map_or_else(absent, |cpu| cpu.to_string()),
                thread.seat.map_or_else(absent, |seat| seat.core.to_string()),
                grouped(row.moves),
            ];
            cells.extend(counts(process, &thread.figures));
            cells.push(if at == 0 { clean(&phase.shown()) } else { String::new() });
            table.row(cells);
        }
    }
    (rows > 0).then_some(table)
}

/// A line for the threads of each phase that many threads have: of the time, and of each count.
fn teams(process: &ProcessReport, shown: &[&PhaseReport]) -> Option<Grid> {
    let mut table = Grid::new(vec![
        Column::right("threads", ""),
        Column::left("of"),
        Column::right("least", ""),
        Column::right("median", ""),
        Column::right("most", ""),
        Column::right("thread", "of most"),
        Column::label("phase"),
    ]);
    for phase in shown {
        let rows = || phase.threads.iter().map(|thread| (thread.row.thread, thread));
        let times = Spread::of(rows().map(|(number, thread)| (number, thread.row.seconds)));
        let of_count = |(at, event): (usize, &crate::run::report::Column)| {
            let count = |(number, thread): (u32, &Thread)| {
                Some((number, thread.figures.counts.get(at).copied().flatten()?.value))
            };
            Some((event.title(), event.unit.clone(), Spread::of_counts(rows().filter_map(count))?))
        };
        let counts = process.columns.counted().into_iter().filter_map(of_count);
        let times = times.map(|times| ("time".to_owned(), "s".to_owned(), times));
        for (at, (title, unit, spread)) in times.into_iter().chain(counts).enumerate() {
            let amount = |value: f64| match unit.as_str() {
                "s" => seconds(value),
                "ns" => seconds(value * 1e-9),
                _ => grouped(value.round() as u64),
            };
            table.row(vec![
                if at == 0 { phase.threads.len().to_string() } else { String::new() },
                title,
                amount(spread.least),
                amount(spread.median),
                amount(spread.most),
                format!("T{}", spread.thread),
                if at == 0 { clean(&phase.shown()) } else { String::new() },
            ]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The columns of the counted events.
fn counted(process: &ProcessReport) -> Vec<Column> {
    let events = process.columns.counted().into_iter();
    let column = |event: &crate::run::report::Column| {
        Column::right(&event.title(), if event.unit == "ns" { "" } else { &event.unit })
    };
    events.map(|(_, event)| column(event)).collect()
}

fn counts(process: &ProcessReport, figures: &Figures) -> Vec<String> {
    let events = process.columns.counted().into_iter();
    events.map(|(at, event)| quantity(figures.counts[at], &event.unit)).collect()
}

/// Phases and rows of threads on standard error.
const PHASES: usize = 20;
const THREADS: usize = 32;
