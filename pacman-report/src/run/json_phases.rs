//! The phases of the JSON report.

use pacman_regions::PhaseKind;
use serde::Serialize;

#[cfg(test)]
use super::json_figures;
use super::json_figures::{ThreadFacts, figures};
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
    #[serde(flatten)]
    facts: ThreadFacts<'a>,
    /// Executions that never ended; no figure has them.
    unended: u64,
    /// Time from begin to end.
    time_s: Seconds,
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
    PhaseThread {
        facts: ThreadFacts::of(thread),
        unended,
        time_s: Seconds(thread.row.seconds),
        states: *states,
        figures: figures(columns, &thread.figures),
    }
}
