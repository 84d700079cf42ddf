//! Waits and tasks that the runtime reports through OMPT.
//!
//! The runtime calls once at the begin and once at the end, so what the entries keep on the stack is in
//! a list here.

use std::ffi::{c_int, c_uint, c_void};

use pacman_regions::Cause;
use pacman_regions::arena::state;

use crate::process;
use crate::waits::REPORTED;
use crate::worker::{OmptState, Open, Worker};

// Events and their details, from the specification's `omp-tools.h`.
const TASK_SCHEDULE: c_int = 6;
const SYNC_REGION_WAIT: c_int = 16;
const MUTEX_ACQUIRE: c_int = 26;
const MUTEX_ACQUIRED: c_int = 27;
const NEST_LOCK: c_int = 28;
const BEGIN: c_int = 1;
const END_OF_REGION: c_int = 9;
const IMPLICIT_BARRIER: c_int = 2;

/// Requests the events of waits and tasks.
///
/// # Safety
/// `set` must be the runtime's `ompt_set_callback`.
pub(super) unsafe fn register(set: unsafe extern "C" fn(c_int, *const c_void) -> c_int) {
    // SAFETY: the specification's types for these callbacks.
    unsafe {
        set(TASK_SCHEDULE, task_schedule as *const c_void);
        set(SYNC_REGION_WAIT, sync_region_wait as *const c_void);
        set(MUTEX_ACQUIRE, mutex_acquire as *const c_void);
        set(MUTEX_ACQUIRED, mutex_acquired as *const c_void);
        set(NEST_LOCK, nest_lock as *const c_void);
    }
}

/// More waits and tasks inside each other are not timed.
const DEEPEST: usize = 64;

fn push(worker: &Worker, open: impl FnOnce() -> Open) {
    let Ok(mut all) = worker.ompt.open.try_borrow_mut() else { return };
    if all.len() < DEEPEST {
        all.push(open());
    } else {
        worker.ompt.deeper.set(worker.ompt.deeper.get() + 1);
    }
}

fn pop(worker: &Worker) -> Option<Open> {
    let OmptState { open, deeper, .. } = &worker.ompt;
    if deeper.get() > 0 {
        deeper.set(deeper.get() - 1);
        return None;
    }
    open.try_borrow_mut().ok()?.pop()
}

fn begin_wait(cause: Cause, caller: *const c_void) {
    let Some(worker) = Worker::known() else { return };
    let state = &worker.waits;
    let frame = (&raw const worker).addr();
    push(worker, || match state.part().is_none() || state.is_waiting(frame) {
        true => Open::Ignored,
        false => {
            let begun = state.open(REPORTED, cause, || worker.now());
            Open::Wait { begun, cause, caller: caller as u64 }
        }
    });
}

fn end_wait() {
    let Some(worker) = Worker::known() else { return };
    let now = worker.now();
    let state = &worker.waits;
    match pop(worker) {
        Some(Open::Wait { begun, cause, caller }) => {
            let Some(apart) = state.close(now, || worker.now()) else { return };
            let ticks = process::between(begun, now).saturating_sub(apart);
            // Without a caller, the cause is the construct.
            let caller = if caller == 0 { u64::from(NO_CALLER + cause as u32) } else { caller };
            state.add(caller, cause, ticks);
        }
        Some(Open::Ignored) | None => {}
        // An end without its begin: the program left a wait by a jump.
        Some(_) => state.abandon(),
    }
}

/// Stands for the return address of a call that the runtime does not give, with the cause.
const NO_CALLER: u32 = state::SITES;

unsafe extern "C" fn sync_region_wait(
    kind: c_int,
    endpoint: c_int,
    _parallel: *mut u64,
    _task: *mut u64,
    caller: *const c_void,
) {
    let cause = match kind {
        // The part has ended by then, so that waits at the region's end are ignored.
        END_OF_REGION => return,
        IMPLICIT_BARRIER if caller.is_null() => return,
        IMPLICIT_BARRIER | 4 | 8 => Cause::Worksharing,
        5 => Cause::Taskwait,
        6 => Cause::Taskgroup,
        7 => Cause::Reduction,
        _ => Cause::Barrier,
    };
    match endpoint {
        BEGIN => begin_wait(cause, caller),
        _ => end_wait(),
    }
}

/// The cause of a mutex of that kind, if threads wait for it.
fn mutex(kind: c_int) -> Option<Cause> {
    match kind {
        1 | 3 => Some(Cause::Lock),
        5 => Some(Cause::Critical),
        6 => Some(Cause::Atomic),
        7 => Some(Cause::Ordered),
        // A test of a lock.
        _ => None,
    }
}

unsafe extern "C" fn mutex_acquire(
    kind: c_int,
    _hint: c_uint,
    _implementation: c_uint,
    _mutex: u64,
    caller: *const c_void,
) {
    if let Some(cause) = mutex(kind) {
        begin_wait(cause, caller);
    }
}

unsafe extern "C" fn mutex_acquired(kind: c_int, _mutex: u64, _caller: *const c_void) {
    if mutex(kind).is_some() {
        end_wait();
    }
}

/// A thread takes a lock that it has already. The runtime has reported that it asks for it.
unsafe extern "C" fn nest_lock(endpoint: c_int, _mutex: u64, _caller: *const c_void) {
    let Some(worker) = Worker::known() else { return };
    let has_asked = worker
        .ompt
        .open
        .try_borrow()
        .is_ok_and(|open| matches!(open.last(), Some(Open::Wait { cause: Cause::Lock, .. })));
    if endpoint == BEGIN && has_asked {
        end_wait();
    }
}

unsafe extern "C" fn task_schedule(_prior: *mut u64, status: c_int, _next: *mut u64) {
    let Some(worker) = Worker::known() else { return };
    match status {
        // Yield and switch: another task begins.
        2 | 7 => begin_task(worker),
        // It is complete, cancelled or detached.
        1 | 3 | 4 => end_task(worker),
        _ => {}
    }
}

fn begin_task(worker: &Worker) {
    let state = &worker.waits;
    let frame = (&raw const worker).addr();
    push(worker, || {
        let begun = worker.now();
        if state.is_waiting(frame) {
            return Open::Task { begun, saved: state.enter_task(begun, || worker.now()) };
        }
        match worker.ompt.latest.get() {
            latest if state.part().is_none() && !latest.is_none() => {
                Open::LateTask { begun, saved: state.enter(latest, None, begun, || worker.now()) }
            }
            _ => Open::PlainTask,
        }
    });
}

fn end_task(worker: &Worker) {
    let state = &worker.waits;
    match pop(worker) {
        Some(Open::Task { begun, saved }) => {
            let ended = worker.now();
            state.restore(saved, process::between(begun, ended), ended, || worker.now());
        }
        Some(Open::LateTask { begun, saved }) => {
            let ended = worker.now();
            state.add_state(state::LATE_TASKS, process::between(begun, ended));
            state.leave(saved, ended, || worker.now());
        }
        Some(Open::Wait { .. }) => state.abandon(),
        Some(Open::PlainTask | Open::Ignored) | None => {}
    }
}
