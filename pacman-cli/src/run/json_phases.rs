//! The phases of the JSON report.

use pacman_regions::PhaseKind;
use serde::Serialize;

use super::json_figures::figures;
use super::report::{Columns, PhaseReport, Thread};
use crate::document::List;

#[derive(Serialize)]
struct Phase<'a, F, T> {
    name: &'a str,
    kind: PhaseKind,
    executions: u64,
    unended: u64,
    time_s: f64,
    figures: F,
    threads: T,
}

#[derive(Serialize)]
struct PhaseThread<'a, F> {
    thread: u32,
    executions: u64,
    unended: u64,
    time_s: f64,
    cpu: Option<u32>,
    moves: u64,
    package: Option<u32>,
    core: Option<u32>,
    sibling: Option<u32>,
    counted: u64,
    implausible: Option<&'a str>,
    figures: F,
}

pub(super) fn phase<'a>(columns: &'a Columns, phase: &'a PhaseReport) -> impl Serialize + 'a {
    let threads = || phase.threads.iter().zip(&phase.unended);
    Phase {
        name: &phase.name,
        kind: phase.kind,
        executions: phase.executions,
        unended: phase.unended.iter().fold(0, |sum, unended| sum.saturating_add(*unended)),
        time_s: phase.seconds,
        figures: figures(columns, &phase.figures),
        threads: List(move || threads().map(move |(one, unended)| thread(columns, one, *unended))),
    }
}

fn thread<'a>(columns: &'a Columns, thread: &'a Thread, unended: u64) -> impl Serialize + 'a {
    let row = &thread.row;
    PhaseThread {
        thread: row.thread,
        executions: row.executions,
        unended,
        time_s: row.seconds,
        cpu: row.cpu,
        moves: row.moves,
        package: thread.seat.map(|seat| seat.package),
        core: thread.seat.map(|seat| seat.core),
        sibling: thread.seat.map(|seat| seat.sibling),
        counted: row.counted,
        implausible: thread.implausible.as_deref(),
        figures: figures(columns, &thread.figures),
    }
}
