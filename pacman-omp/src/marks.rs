//! The begin and the end of a phase on the calling thread, by calls of Kokkos, LIKWID, PAPI or PACMAN's sessions.
//!
//! A session has a word for each phase, so that an execution needs no name. Phases of one name in two sessions are one
//! phase of the report.

use std::ptr;

use pacman_regions::PhaseKind;

use crate::function::Function;
use crate::interpose;
use crate::isolation::isolated;
use crate::notes;
use crate::phases::{Mark, Phases, kernels, names};
use crate::plan::Plan;
use crate::process;
use crate::rows;
use crate::worker::Worker;

/// The execution that a call ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End<'n> {
    /// The latest of that name.
    Named(&'n [u8]),
    /// The latest of the phase with that number.
    Numbered(u32),
    /// The latest.
    Latest,
}

/// The result of a begin.
enum Begun {
    /// With the phase's number.
    Number(u32),
    /// The process has too many phases.
    TooMany,
    /// The caller is a signal handler that interrupted another call.
    Interrupted,
}

/// Begins an execution, and answers the number of its phase. Takes no lock and allocates nothing after
/// the first execution of a phase on a thread.
pub(crate) fn begin(kind: PhaseKind, name: &[u8]) -> Option<u32> {
    if !process::is_observed() {
        return None;
    }
    let worker = Worker::here();
    let enter = |phases: &mut Phases| phases.enter(kind, name, || thread_number(worker));
    match begin_on(worker, kind, |phases| phases.find(kind, name), enter) {
        Begun::Number(number) => Some(number),
        Begun::TooMany => None,
        Begun::Interrupted => {
            isolated(|| note_interrupted(kind, name));
            None
        }
    }
}

/// Begins an execution of the phase that `find` has, or that `enter` adds.
#[inline]
fn begin_on(
    worker: &Worker,
    kind: PhaseKind,
    find: impl FnOnce(&Phases) -> Option<usize>,
    enter: impl FnOnce(&mut Phases) -> Option<usize>,
) -> Begun {
    let counters = worker.prepared();
    let begun = worker.phases.with(|phases| {
        let known = find(phases);
        if known.is_none() && process::plan().times_waits() {
            // Its waits would be missing in executions of regions that are only counted.
            process::marks_phases();
            worker.countdowns.forget();
        }
        let at = known.or_else(|| isolated(|| enter(phases)))?;
        if !phases.is_prepared(at) {
            isolated(|| phases.prepare(at));
            phases.is_prepared(at).then_some(())?;
        }
        let number = phases.number(at);
        if kind.is_kernel() {
            if !process::plan().runs_kernels() {
                process::finds(Plan::RUNS_KERNELS);
            }
            kernels::opens(number + 1);
            worker.phases.set_label(number + 1);
        }
        phases.row(at).begin();
        let open = phases.open(at);
        if let Some(counters) = counters {
            if counters.read(&mut open.reading) {
                open.counters = counters;
            }
        }
        if process::plan().times_waits() {
            open.waits = Some(worker.waits.begin_phase(|| worker.now()));
        }
        open.ticks = worker.now();
        Some(number)
    });
    match begun {
        Some(Some(number)) => Begun::Number(number),
        Some(None) => Begun::TooMany,
        None => Begun::Interrupted,
    }
}

/// Ends an execution on the thread that began it.
pub(crate) fn end(kind: PhaseKind, which: End<'_>) {
    let Some(worker) = Worker::known().filter(|_| process::is_observed()) else { return };
    let now = worker.now();
    let is_one = |known: PhaseKind, name: &[u8], number: u32| {
        known == kind
            && match which {
                End::Named(wanted) => wanted == name,
                End::Numbered(wanted) => wanted == number,
                End::Latest => true,
            }
    };
    let ended = worker.phases.with(|phases| {
        let place = phases.latest(is_one)?;
        end_at(worker, phases, place, now);
        Some(())
    });
    // An end in a signal handler that interrupted this code would be for an execution that is open.
    if ended == Some(None) {
        isolated(|| note_unbegun(kind, which));
    }
}

/// Ends the open execution at a place.
fn end_at(worker: &Worker, phases: &mut Phases, place: usize, now: u64) {
    let (at, open) = phases.close(place);
    if !phases.has_row(at) {
        // The thread forked inside of the execution.
        isolated(|| phases.row(at).begin());
    }
    let ticks = process::between(open.ticks, now);
    if let Some(begun) = open.waits {
        let (waited, clock) = worker.waits.end_phase(begun, || worker.now());
        // A phase that began before a fork has waits of the parent.
        phases.row(at).add_states(waited.min(ticks), clock);
    }
    let row = &phases.row(at).row;
    row.add(ticks, rows::cpu);
    let counters = worker.counters();
    // After a fork the child's thread has other counters, or none yet.
    if let Some(counters) = counters.filter(|own| ptr::eq(*own, open.counters)) {
        row.count(|sums| counters.add_since(&open.reading, sums));
    }
    if phases.is_kernel(at) {
        kernels::closes(phases.number(at) + 1);
        let around = phases.innermost_kernel();
        worker.phases.set_label(around.map_or(0, |number| number + 1));
    }
}

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
    let enter = |phases: &mut Phases| phases.enter_marked(mark, || thread_number(worker));
    if let Begun::Interrupted =
        begin_on(worker, PhaseKind::Pacman, |known| known.marked(mark), enter)
    {
        isolated(|| {
            let name = names::marked(mark).unwrap_or_default();
            note_interrupted(PhaseKind::Pacman, &name);
        });
    }
}

/// Ends an execution on the thread that began it.
pub(crate) fn end_marked(mark: Mark) {
    let Some(worker) = Worker::known().filter(|_| process::is_observed()) else { return };
    let now = worker.now();
    worker.phases.with(|phases| {
        if let Some(place) = phases.latest_marked(mark) {
            end_at(worker, phases, place, now);
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

/// The number of the thread in rows.
fn thread_number(worker: &Worker) -> u32 {
    worker.waits.number_or(team_number(worker))
}

/// The number of the thread in its team.
fn team_number(worker: &Worker) -> Option<u32> {
    let ask = interpose::of_team(Function::omp_get_thread_num).filter(|_| worker.depth() > 0)?;
    // SAFETY: a function of the OpenMP API without arguments that returns an int.
    let ask: extern "C" fn() -> i32 = unsafe { std::mem::transmute(ask) };
    u32::try_from(ask()).ok()
}

fn note_interrupted(kind: PhaseKind, name: &[u8]) {
    notes::note(format!(
        "{} phase {}: a signal handler began it inside of another call of that interface; such \
         executions are not observed",
        kind.word(),
        String::from_utf8_lossy(name)
    ));
}

fn note_unbegun(kind: PhaseKind, which: End<'_>) {
    let name = match which {
        End::Named(name) => format!(" {}", String::from_utf8_lossy(name)),
        End::Numbered(_) | End::Latest => String::new(),
    };
    notes::note(format!(
        "{} phase{name}: a thread ended it without a begin on the same thread; such ends are ignored",
        kind.word()
    ));
}
