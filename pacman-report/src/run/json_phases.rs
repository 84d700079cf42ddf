//! The phases of the JSON report.

use pacman_regions::PhaseKind;
use serde::Serialize;

#[cfg(test)]
use super::json_figures;
use super::json_figures::figures;
use super::report::{Columns, PhaseReport, Thread, ThreadPhase};
use crate::document::Seconds;
use crate::rows::Columns as InColumns;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Phase<'a, F, T> {
    /// Name that the program gives, with C++ types in readable form.
    name: &'a str,
    /// Interface that marks it.
    #[cfg_attr(test, schemars(with = "crate::tests::schemas::foreign::PhaseKind"))]
    kind: PhaseKind,
    /// Executions of all threads that ended.
    executions: u64,
    /// Executions that never ended; no figure has them.
    unended: u64,
    /// Time of the thread that has most.
    time_s: Seconds,
    /// Part of the threads' useful time that they were on a processor; null if not known.
    useful_processor_share: Option<f64>,
    /// Figures of all threads.
    figures: F,
    /// Threads that had it, [as columns](#conventions).
    threads: T,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PhaseThread<'a, F> {
    /// Number among the threads with phases; in a team the number in the team if it was free.
    thread: u32,
    /// Executions that ended.
    executions: u64,
    /// Executions that never ended; no figure has them.
    unended: u64,
    /// Time from begin to end.
    time_s: Seconds,
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
    /// States of the thread; null without `--waits`.
    states: Option<ThreadPhase>,
    /// Figures of this thread.
    figures: F,
}

/// A phase as a reader sees it.
#[cfg(test)]
pub(crate) type Written = Phase<
    'static,
    json_figures::Written,
    crate::rows::Rows<PhaseThread<'static, json_figures::Written>>,
>;

pub(super) fn phase<'a>(columns: &'a Columns, phase: &'a PhaseReport) -> impl Serialize + 'a {
    let threads = || phase.threads.iter().zip(&phase.unended).zip(&phase.states);
    Phase {
        name: &phase.name,
        kind: phase.kind,
        executions: phase.executions,
        unended: phase.unended.iter().fold(0, |sum, unended| sum.saturating_add(*unended)),
        time_s: Seconds(phase.seconds),
        useful_processor_share: phase.processor_share(),
        figures: figures(columns, &phase.figures),
        threads: InColumns(move || {
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
        time_s: Seconds(row.seconds),
        cpu: row.cpu,
        moves: row.moves,
        package: thread.seat.map(|seat| seat.package),
        core: thread.seat.map(|seat| seat.core),
        sibling: thread.seat.map(|seat| seat.sibling),
        counted: row.counted,
        implausible: thread.implausible.as_deref(),
        states: *states,
        figures: figures(columns, &thread.figures),
    }
}
