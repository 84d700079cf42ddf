//! What a thread does in a region: parts, waits and tasks.

use pacman_regions::Cause;
use pacman_regions::arena::state;

use super::roots::{self, Root};
use super::sites;
use super::state::{PartKey, Saved};
use crate::arena;
use crate::counting::Counters;
use crate::function::Function;
use crate::process;
use crate::seen::Seen;
use crate::worker::Worker;

/// Times a call in which the thread may wait, and which returns to `caller`.
///
/// Where nothing is timed the call must be the last instruction of its entry. So the rest is a function of its
/// own: its registers would be saved for each call of a lock.
#[inline(always)]
pub(crate) fn wait<R>(cause: Cause, caller: u64, call: impl FnOnce() -> R) -> R {
    if process::times_waits() { maybe_timed(cause, caller, call) } else { call() }
}

/// Times the call if the thread is in a part whose waits are timed on request, or measured for adaptation.
///
/// A wait inside a wait belongs to the outer one: runtimes call themselves.
#[inline(never)]
fn maybe_timed<R>(cause: Cause, caller: u64, call: impl FnOnce() -> R) -> R {
    let Some(worker) = Worker::known() else { return call() };
    let frame = (&raw const worker).addr();
    if !worker.waits.part().is_none() {
        if worker.waits.is_waiting(frame) {
            return call();
        }
        return timed(worker, frame, (cause, caller), call);
    }
    if !worker.useful.begins_wait(cause, worker.depth(), frame) {
        return call();
    }
    let begun = worker.now();
    let answer = call();
    worker.useful.ends_wait(cause, process::between(begun, worker.now()));
    answer
}

/// Times a call of MPI, inside of regions or outside.
///
/// A call inside a call belongs to the outer one: Fortran's functions call those for C, and functions of
/// MPI call each other.
#[inline]
pub(crate) fn mpi<R>(function: Function, caller: u64, call: impl FnOnce() -> R) -> R {
    let worker = Worker::here();
    let state = &worker.waits;
    let frame = (&raw const worker).addr();
    if state.part().is_none() {
        state.number();
    } else {
        // In an execution that is only counted the call would seem to be outside of regions.
        worker.saw(Seen::MPI);
    }
    if state.is_waiting(frame) {
        return call();
    }
    let answer = timed(worker, frame, (Cause::Mpi, sites::tagged(caller, function)), call);
    if state.part().is_none() {
        state.flush();
    }
    answer
}

#[inline(always)]
fn timed<R>(
    worker: &'static Worker,
    frame: usize,
    (cause, caller): (Cause, u64),
    call: impl FnOnce() -> R,
) -> R {
    let state = &worker.waits;
    let begun = state.open(frame, cause, || worker.now());
    let abandoned = Abandoned(worker);
    let answer = call();
    let ended = worker.now();
    let ticks = process::between(begun, ended);
    std::mem::forget(abandoned);
    let Some(apart) = state.close(ended, || worker.now()) else { return answer };
    state.add(caller, cause, ticks.saturating_sub(apart));
    if process::is_traced() {
        if let Some(site) = state.site(caller) {
            worker.log.wait(site, (begun, ticks), apart);
        }
    }
    answer
}

/// Ends a wait that an exception or the end of the thread leaves.
struct Abandoned(&'static Worker);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.waits.abandon();
    }
}

/// Runs a thread's part in a region, which begins `starting` ticks after the region and is counted by
/// `counters`. Answers the ticks of the library's own work in it.
#[inline]
pub(crate) fn part(
    worker: &Worker,
    key: PartKey,
    starting: u64,
    counters: Option<&Counters>,
    body: impl FnOnce(),
) -> u64 {
    let saved = begin_part(worker, key, counters);
    body();
    end_part(worker, saved, Some(starting))
}

/// Notes the thread that starts a region inside no other.
pub(crate) fn note_root(worker: &Worker) {
    match roots::note((&raw const *worker).addr()) {
        Root::First => arena::has_root(worker.waits.number()),
        Root::FirstAgain => {}
        Root::Another => arena::has_several_roots(),
    }
}

/// Begins a part, which is counted by `counters`.
pub(crate) fn begin_part(worker: &Worker, key: PartKey, counters: Option<&Counters>) -> Saved {
    let at = worker.now();
    worker.opens_part(key.region, key.thread, at);
    worker.waits.enter(key, counters, at, || worker.now())
}

/// Ends a part. `starting` is the time from the start of the region to that of the part, if known. Answers
/// the ticks of the library's own work in the part.
pub(crate) fn end_part(worker: &Worker, saved: Saved, starting: Option<u64>) -> u64 {
    if let Some(starting) = starting {
        worker.waits.add_state(state::STARTING, starting);
    }
    worker.waits.leave(saved, worker.now(), || worker.now());
    worker.waits.own_work()
}

/// Runs a task that a thread created in the part `origin`.
pub(crate) fn task(origin: PartKey, body: impl FnOnce()) {
    let Some(worker) = Worker::known() else { return body() };
    let state = &worker.waits;
    let frame = (&raw const worker).addr();
    if state.is_waiting(frame) {
        let begun = worker.now();
        let saved = state.enter_task(begun, || worker.now());
        body();
        let ended = worker.now();
        return state.restore(saved, process::between(begun, ended), ended, || worker.now());
    }
    if state.part().team == origin.team {
        return body();
    }
    // The thread has ended its part and waits at the region's end, which is not counted.
    let Some(thread) = worker.rows.latest_thread(origin.region) else { return body() };
    let begun = worker.now();
    let saved = state.enter(PartKey { thread, ..origin }, None, begun, || worker.now());
    body();
    let ended = worker.now();
    state.add_state(state::LATE_TASKS, process::between(begun, ended));
    state.leave(saved, ended, || worker.now());
}

/// Notes that the thread creates a task that [`task`] will not run.
#[cold]
pub(crate) fn unseen_task() {
    let worker = Worker::known().filter(|worker| !worker.waits.part().is_none());
    if let Some(worker) = worker {
        worker.waits.add_state(state::UNSEEN_TASKS, 0);
    }
}
