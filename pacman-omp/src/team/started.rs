//! GCC's older interface, whose entries return when the team has started.

use std::ffi::c_void;

use super::Team;
use super::call::{Call, CallTarget, TeamMode};
use crate::function::Function;
use crate::region;
use crate::worker::{PartStart, Worker};

/// An execution of GCC's older interface: the thread that starts the team runs the body itself,
/// between two calls.
pub(crate) struct Started {
    team: Box<Team>,
    part: PartStart,
}

/// As [`run`](super::run), for an entry that returns when the team has started.
pub(crate) fn begin(
    body: *const c_void,
    call: impl FnOnce() -> Call,
    start: impl FnOnce(&Team, u32, TeamMode),
) -> bool {
    let (call, known) = (call(), region::find(body as u64));
    let met = known.map(|region| CallTarget { runtime: region.runtime, region: Some(region) });
    let met = met.or_else(|| CallTarget::of(call.entry, call.body as u64, call.source));
    let Some(CallTarget { runtime, region }) = met else { return false };
    let worker = Worker::here();
    // On the heap, because the members need it for longer than this call.
    let team = Box::new(Team::new(&call, runtime, region, region.map(|_| worker)));
    // The thread's own clause is used up; such regions are not adapted.
    worker.take_pushed();
    worker.open_region();
    team.own.begun.set(worker.now());
    worker.starts(|| start(&team, call.threads, team.mode()));
    team.own.size.set(team.runtime.ask_or(Function::omp_get_num_threads, 1));
    let part = worker.begin();
    worker.started.borrow_mut().push(Started { team, part });
    true
}

/// The thread that called [`begin`] has run the body; `end` ends the real team.
pub(crate) fn end(end: impl FnOnce(&Team)) {
    let worker = Worker::here();
    // Without a beginning there is no runtime either, and nothing to end.
    let Some(Started { team, part }) = worker.started.borrow_mut().pop() else { return };
    match team.region {
        Some(region) => {
            worker.end(&part, region, 0);
            end(&team);
            team.enter(region, worker);
        }
        None => {
            worker.leave(&part);
            end(&team);
        }
    }
    worker.close_region();
}
