//! One phase: its time, its threads and their counts.

use pacman_events::plural::number;
use pacman_regions::{Phase, PhaseKind, PhaseStates, PhaseThread, Row};
use serde::Serialize;

use super::columns::{Columns, Figures};
use super::seats::Seats;
use super::states::share_on;
use super::thread::Thread;
use crate::document::{nanoseconds, optional_nanoseconds};
use crate::implausible::{LeftOut, note};
use crate::run::names;

/// The report of a phase that the program marks by calls of a tool.
#[derive(Debug)]
pub(in crate::run) struct PhaseReport {
    pub(in crate::run) name: String,
    pub(in crate::run) kind: PhaseKind,
    /// The executions of all threads that ended.
    pub(in crate::run) executions: u64,
    /// The time of the thread that has most.
    pub(in crate::run) seconds: f64,
    pub(in crate::run) figures: Figures,
    /// By number; `unended` has one figure for each.
    pub(in crate::run) threads: Vec<Thread>,
    /// Executions of each thread that never ended.
    pub(in crate::run) unended: Vec<u64>,
    /// The states of each thread, if waits were timed.
    pub(in crate::run) states: Vec<Option<ThreadPhase>>,
}

/// The states of one thread in a phase, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct ThreadPhase {
    /// Seconds outside of waits.
    #[serde(rename = "useful_s", serialize_with = "nanoseconds")]
    pub(in crate::run) useful: f64,
    /// Seconds of waits at constructs, in MPI calls, and at the start and the end of regions that the
    /// thread starts inside no other.
    #[serde(rename = "waiting_s", serialize_with = "nanoseconds")]
    pub(in crate::run) waiting: f64,
    /// Seconds of `useful_s` on no processor; null if the kernel's clock of the thread could not be
    /// read.
    #[serde(rename = "useful_off_s", serialize_with = "optional_nanoseconds")]
    pub(in crate::run) useful_off: Option<f64>,
    /// Seconds of `waiting_s` on no processor; null like those.
    #[serde(rename = "waiting_off_s", serialize_with = "optional_nanoseconds")]
    pub(in crate::run) waiting_off: Option<f64>,
}

impl ThreadPhase {
    fn of(thread: &PhaseThread) -> Option<ThreadPhase> {
        let PhaseStates { waiting, useful_off, waiting_off } = thread.states?;
        // Clocks are read one after the other: no part takes longer than the whole.
        let waiting = waiting.min(thread.row.seconds);
        let useful = thread.row.seconds - waiting;
        let useful_off = useful_off.map(|off| off.min(useful));
        let waiting_off = waiting_off.map(|off| off.min(waiting));
        Some(ThreadPhase { useful, waiting, useful_off, waiting_off })
    }
}

impl PhaseReport {
    fn of(phase: &Phase, columns: &Columns, seats: &Seats) -> PhaseReport {
        let mut threads: Vec<&PhaseThread> = phase.threads.iter().collect();
        threads.sort_by_key(|thread| thread.row.thread);
        let rows: Vec<Row> = threads.iter().map(|thread| thread.row.clone()).collect();
        PhaseReport {
            name: names::label(&phase.name, phase.kind),
            kind: phase.kind,
            executions: rows.iter().fold(0, |sum, row| sum.saturating_add(row.executions)),
            seconds: rows.iter().map(|row| row.seconds).fold(0.0, f64::max),
            figures: columns.figures(&rows.iter().collect::<Vec<_>>()),
            threads: Thread::all(&rows, columns, seats),
            unended: threads.iter().map(|thread| thread.unended()).collect(),
            states: threads.iter().map(|thread| ThreadPhase::of(thread)).collect(),
        }
    }

    /// The phases of a process, the longest first, and notes about them.
    pub(super) fn all(
        phases: &[Phase],
        left_out: &[LeftOut],
        columns: &Columns,
        seats: &Seats,
    ) -> (Vec<PhaseReport>, Vec<String>) {
        let mut all: Vec<PhaseReport> =
            phases.iter().map(|phase| PhaseReport::of(phase, columns, seats)).collect();
        let mut notes = Vec::new();
        for LeftOut { region, thread, why } in left_out {
            let phase = &mut all[*region];
            notes.push(format!("T{thread} in {}: {}", phase.shown(), note(why)));
            if let Some(own) = phase.threads.iter_mut().find(|own| own.row.thread == *thread) {
                own.implausible = Some(why.clone());
            }
        }
        notes.extend(all.iter().filter_map(PhaseReport::unended));
        all.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        (all, notes)
    }

    /// A line on executions that never ended.
    fn unended(&self) -> Option<String> {
        let all: u64 = self.unended.iter().fold(0, |sum, unended| sum.saturating_add(*unended));
        let threads = self.threads.iter().zip(&self.unended).filter(|(_, unended)| **unended > 0);
        let threads: Vec<String> =
            threads.map(|(thread, _)| format!("T{}", thread.row.thread)).collect();
        let executions = number(all, "execution");
        (all > 0).then(|| {
            format!(
                "phase {}: {executions} began on {} and never ended; no figure has \
                 their time",
                self.shown(),
                threads.join(", ")
            )
        })
    }

    /// The name, short enough for a line.
    pub(in crate::run) fn shown(&self) -> String {
        names::short(&self.name)
    }

    /// Seconds of useful time and of waits of all threads, if waits were timed.
    pub(in crate::run) fn useful_and_waiting(&self) -> Option<(f64, f64)> {
        let mut both = (0.0, 0.0);
        for states in &self.states {
            let states = states.as_ref()?;
            both = (both.0 + states.useful, both.1 + states.waiting);
        }
        Some(both)
    }

    /// The part of the threads' useful time that they were on a processor, if it is known.
    pub(in crate::run) fn processor_share(&self) -> Option<f64> {
        let off: Option<f64> = self.states.iter().map(|states| states.as_ref()?.useful_off).sum();
        share_on(self.useful_and_waiting()?.0, off?)
    }

    /// The time of the longest thread over the mean of all.
    pub(in crate::run) fn imbalance(&self) -> Option<f64> {
        let sum: f64 = self.threads.iter().map(|thread| thread.row.seconds).sum();
        let mean = sum / self.threads.len() as f64;
        (mean > 0.0).then(|| self.seconds / mean)
    }
}
