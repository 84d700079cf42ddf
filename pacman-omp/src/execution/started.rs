//! GCC's older interface: its entries return when the team has started.

use std::ffi::c_void;

use super::observed::observed_team;
use super::target::CallTarget;
use crate::adapt::packed;
use crate::energy;
use crate::function::Function;
use crate::process;
use crate::region;
use crate::runtime::Runtime;
use crate::team::{Call, Team, TeamMode};
use crate::worker::{Started, Worker, waits};

/// As [`run`](super::run()), for an entry that returns when the team has started.
pub(crate) fn begin(
    body: *const c_void,
    call: impl FnOnce() -> Call,
    start: impl FnOnce(&Team, u32, TeamMode),
    _bare: impl FnOnce(&'static Runtime),
) -> bool {
    let (call, known) = (call(), region::find(region::key(body as u64, 0)));
    let met = known.map(CallTarget::known);
    let met = met.or_else(|| CallTarget::of(call.entry, call.body as u64, call.source));
    let Some(CallTarget { runtime, region }) = met else { return false };
    let worker = Worker::here();
    // On the heap, because the members use it after this call.
    let team = Box::new(match region {
        Some(region) => observed_team(&call, region, worker),
        None => Team::unobserved(&call, runtime),
    });
    packed::step_aside();
    // The clause is for this region, which is not adapted.
    worker.take_pushed();
    if is_metered(worker) {
        energy::begin(worker.address());
    }
    worker.open_region();
    team.own.begun.set(worker.now());
    worker.starts(|| start(&team, call.threads, team.mode()));
    team.own.size.set(team.runtime.ask_or(Function::omp_get_num_threads, 1));
    let part = worker.begin(region);
    let timed = region.filter(|_| process::has_waits());
    let around =
        timed.map(|region| waits::begin_part(worker, team.key(region, 0), part.counters()));
    let outer = worker.team.replace(&raw const *team);
    worker.started.borrow_mut().push(Started { team, part, around, outer });
    true
}

/// The thread that called [`begin`] has run the body. `end` ends the real team.
pub(crate) fn end(end: impl FnOnce(&Team)) {
    let worker = Worker::here();
    // Without a call of `begin` there is no runtime, and nothing to end.
    let Some(Started { team, mut part, around, outer }) = worker.started.borrow_mut().pop() else {
        return;
    };
    worker.team.set(outer);
    if let Some(around) = around {
        part.later(waits::end_part(worker, around, Some(part.since(team.own.begun.get()))));
    }
    match team.region {
        Some(region) => {
            match team.is_within() {
                true => drop(worker.end_weighted(&part, region, 0, 0)),
                false => worker.end_either(&part, region, 0),
            }
            end(&team);
            if process::has_waits() {
                team.leave_out_own_work(worker);
            }
            team.enter(region, worker);
            if is_metered(worker) {
                energy::end(worker.address(), region.number);
            }
        }
        None => {
            worker.leave(&part);
            end(&team);
        }
    }
    worker.close_region();
}

/// Whether energy is read around a region that the thread starts here.
fn is_metered(worker: &Worker) -> bool {
    process::is_metered() && worker.depth() == 0
}
