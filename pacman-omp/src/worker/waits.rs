//! The doings of a thread in a region: parts, waits and tasks.

use pacman_regions::Cause;
use pacman_regions::arena::state;

use super::thread::Worker;
use crate::arch::wait_for_instructions;
use crate::arena;
use crate::counting::Counters;
use crate::function::Function;
use crate::process;
use crate::seen::Seen;
use crate::waits::roots::{self, Root};
use crate::waits::{OpenWait, PartKey, Saved, sites};

/// Times a call in which the thread may wait. `caller` is its return address, which is in `slot`.
///
/// Where nothing is timed the call must be the last instruction of its entry. So the rest is a function of its
/// own: its registers would be saved for each call of a barrier.
#[inline(always)]
pub(crate) fn wait<R>(cause: Cause, (caller, slot): (u64, usize), call: impl FnOnce() -> R) -> R {
    if process::may_time_waits() { maybe_timed(cause, (caller, slot), call) } else { call() }
}

#[inline(never)]
fn maybe_timed<R>(cause: Cause, (caller, slot): (u64, usize), call: impl FnOnce() -> R) -> R {
    let Some(worker) = Worker::known() else { return call() };
    let Some(open) = begin(worker, cause, caller, slot) else { return call() };
    let abandoned = Abandoned(worker);
    let answer = call();
    std::mem::forget(abandoned);
    end(worker, open);
    answer
}

/// Begins to time a call if the thread is in a part whose waits are timed on request, or measured for
/// adaptation. `slot` is the address of its return address.
///
/// A wait inside a wait belongs to the outer one: runtimes call themselves.
#[inline]
pub(crate) fn begin(worker: &Worker, cause: Cause, caller: u64, slot: usize) -> Option<OpenWait> {
    if !worker.waits.part().is_none() {
        return match worker.waits.is_waiting(slot) {
            true => None,
            false => Some(timed(worker, slot, cause, caller)),
        };
    }
    let is_measured = worker.useful.begins_wait(cause, worker.depth(), slot);
    is_measured.then(|| OpenWait::Measured { begun: worker.now(), cause })
}

/// Begins to time a request for a chunk, which returns to `caller`, if the thread is in a part whose waits are
/// timed. Answers the time.
#[inline]
pub(crate) fn begin_chunk(worker: &Worker, caller: u64, slot: usize) -> Option<u64> {
    let state = &worker.waits;
    if state.part().is_none() || state.is_waiting(slot) {
        state.chunks.outside();
        return None;
    }
    state.arrives(caller, fenced_now(worker));
    Some(fenced_now(worker))
}

/// The time after the instructions before, and before those after. Without that the processor reads the clock while an
/// atomic operation is under way, and its time is in the interval that follows.
#[inline]
fn fenced_now(worker: &Worker) -> u64 {
    wait_for_instructions();
    let now = worker.now();
    wait_for_instructions();
    now
}

/// Ends a request that [`begin_chunk`] began. It got no chunk if it `is_last`.
#[inline]
pub(crate) fn end_chunk(worker: &Worker, begun: u64, is_last: bool) {
    let ticks = process::between(begun, fenced_now(worker));
    worker.waits.ended_request(ticks, is_last, || fenced_now(worker));
}

/// Begins to time a call of MPI, inside of regions or outside.
///
/// A call inside a call belongs to the outer one: Fortran's functions call those for C, and functions of
/// MPI call each other.
#[inline]
pub(crate) fn begin_mpi(
    worker: &Worker,
    function: Function,
    caller: u64,
    slot: usize,
) -> Option<OpenWait> {
    let state = &worker.waits;
    if state.part().is_none() {
        state.number();
    } else {
        // In an execution that is only counted the call would seem to be outside of regions.
        worker.saw(Seen::MPI);
    }
    let is_inside = state.is_waiting(slot);
    (!is_inside).then(|| timed(worker, slot, Cause::Mpi, sites::tagged(caller, function)))
}

#[inline]
fn timed(worker: &Worker, slot: usize, cause: Cause, caller: u64) -> OpenWait {
    OpenWait::Timed { begun: worker.waits.open(slot, cause, || worker.now()), cause, caller }
}

/// Ends a wait that [`begin`] began. Answers the time of the end.
#[inline]
pub(crate) fn end(worker: &Worker, open: OpenWait) -> u64 {
    let ended = worker.now();
    let (begun, cause, caller) = match open {
        OpenWait::Timed { begun, cause, caller } => (begun, cause, caller),
        OpenWait::Measured { begun, cause } => {
            worker.useful.ends_wait(cause, process::between(begun, ended));
            return ended;
        }
    };
    let state = &worker.waits;
    let ticks = process::between(begun, ended);
    let Some(apart) = state.close(ended, || worker.now()) else { return ended };
    state.add(caller, cause, ticks.saturating_sub(apart));
    if process::plan().traces() {
        if let Some(site) = state.site(caller) {
            worker.log.wait(site, (begun, ticks), apart);
        }
    }
    ended
}

/// Ends a call that [`begin_mpi`] began.
#[inline]
pub(crate) fn end_mpi(worker: &Worker, open: OpenWait) {
    let ended = end(worker, open);
    if worker.waits.part().is_none() {
        worker.waits.flush(process::own(ended).1);
    }
}

/// Ends a wait that an exception or the end of the thread leaves.
struct Abandoned<'a>(&'a Worker);

impl Drop for Abandoned<'_> {
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
