//! The phases of PACMAN's sessions in the program.
//!
//! A session has a word for each phase, so that an execution needs no name. Phases of one name in two
//! sessions are one phase of the report.

use pacman_regions::PhaseKind;

use super::marks::{self, Begun};
use super::names::{self, Mark};
use super::state::Phases;
use crate::isolation::isolated;
use crate::process;
use crate::worker::Worker;

const KIND: PhaseKind = PhaseKind::Pacman;

/// A session gives a phase its name.
pub(crate) fn name(mark: Mark, name: &[u8]) {
    if process::is_observed() {
        isolated(|| names::mark(mark, name));
    }
}

/// Begins an execution. Takes no lock and allocates nothing after the first one of a phase on a thread.
pub(crate) fn begin_marked(mark: Mark) {
    if !process::is_observed() {
        return;
    }
    let worker = Worker::here();
    let enter = |phases: &mut Phases| phases.enter_marked(mark, || marks::thread_number(worker));
    if let Begun::Interrupted = marks::begin_on(worker, KIND, |known| known.marked(mark), enter) {
        isolated(|| {
            let name = names::marked(mark).unwrap_or_default();
            marks::note_interrupted(KIND, &name);
        });
    }
}

/// Ends an execution on the thread that began it.
pub(crate) fn end_marked(mark: Mark) {
    let Some(worker) = Worker::known().filter(|_| process::is_observed()) else { return };
    let now = worker.now();
    worker.phases.with(|phases| {
        if let Some(place) = phases.latest_marked(mark) {
            marks::end_at(worker, phases, place, now);
        }
    });
}

/// Forgets an execution that does not end; with `cancel`, it was none.
pub(crate) fn drop_marked(mark: Mark, cancel: bool) {
    let Some(worker) = Worker::known().filter(|_| process::is_observed()) else { return };
    worker.phases.with(|phases| {
        if let Some(place) = phases.latest_marked(mark) {
            let (at, _) = phases.close(place);
            // After a fork the execution is in the parent's row.
            if cancel && phases.has_row(at) {
                phases.row(at).cancel();
            }
        }
    });
}
