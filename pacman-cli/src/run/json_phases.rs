//! The phases of the JSON report.

use pacman_regions::PhaseKind;
use serde::Serialize;

use super::json_figures::figures;
use super::report::{Columns, PhaseReport, Thread, ThreadPhase};
use crate::document::List;

#[derive(Serialize)]
struct Phase<'a, F, T> {
    name: &'a str,
    kind: PhaseKind,
    executions: u64,
    unended: u64,
    time_s: f64,
    useful_processor_share: Option<f64>,
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
    states: Option<PhaseStates>,
    figures: F,
}

/// The states of a thread in a phase.
#[derive(Serialize)]
struct PhaseStates {
    useful_s: f64,
    waiting_s: f64,
    useful_off_s: Option<f64>,
    waiting_off_s: Option<f64>,
}

pub(super) fn phase<'a>(columns: &'a Columns, phase: &'a PhaseReport) -> impl Serialize + 'a {
    let threads = || phase.threads.iter().zip(&phase.unended).zip(&phase.states);
    Phase {
        name: &phase.name,
        kind: phase.kind,
        executions: phase.executions,
        unended: phase.unended.iter().fold(0, |sum, unended| sum.saturating_add(*unended)),
        time_s: phase.seconds,
        useful_processor_share: phase.processor_share(),
        figures: figures(columns, &phase.figures),
        threads: List(move || {
            threads().map(move |((one, unended), states)| thread(columns, one, *unended, states))
        }),
    }
}

fn thread<'a>(
    columns: &'a Columns,
    thread: &'a Thread,
    unended: u64,
    states: &Option<ThreadPhase>,
) -> impl Serialize + 'a {
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
        states: states.map(|states| PhaseStates {
            useful_s: states.useful,
            waiting_s: states.waiting,
            useful_off_s: states.useful_off,
            waiting_off_s: states.waiting_off,
        }),
        figures: figures(columns, &thread.figures),
    }
}
