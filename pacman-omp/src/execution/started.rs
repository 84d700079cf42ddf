//! GCC's older interface: its entries return when the team has started.

use std::ffi::c_void;

use pacman_regions::arena::Nested;

use super::target::{CallTarget, nested, observed_team};
use crate::adapt::packed;
use crate::energy;
use crate::function::Function;
use crate::process;
use crate::region;
use crate::runtime::Runtime;
use crate::team::{Call, Decision, Team, TeamMode};
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
    let nested = region.map_or(Nested::No, |region| nested(region, worker));
    let decided = region.map(|_| Decision::of(process::plan(), nested, false));
    let decision = decided.unwrap_or(Decision::UNOBSERVED);
    // On the heap, because the members use it after this call.
    let team = Box::new(match region {
        Some(region) => observed_team(&call, region, worker, nested),
        None => Team::unobserved(&call, runtime),
    });
    packed::step_aside();
    // The clause is for this region, which is not adapted.
    worker.take_pushed();
    if decision.meters {
        energy::begin(worker.address());
    }
    worker.open_region();
    team.own.begun.set(worker.now());
    worker.starts(|| start(&team, call.threads, decision.mode));
    team.own.size.set(team.runtime.ask_or(Function::omp_get_num_threads, 1));
    let part = worker.begin_as(decision.mode, region);
    let timed = region.filter(|_| decision.times_waits);
    let around =
        timed.map(|region| waits::begin_part(worker, team.key(region, 0), part.counters()));
    let outer = worker.team.replace(&raw const *team);
    let started = Started { team, part, nested, decision, around, outer };
    worker.started.borrow_mut().push(started);
    true
}

/// The thread that called [`begin`] has run the body. `end` ends the real team.
pub(crate) fn end(end: impl FnOnce(&Team)) {
    let worker = Worker::here();
    // Without a call of `begin` there is no runtime, and nothing to end.
    let started = worker.started.borrow_mut().pop();
    let Some(Started { team, mut part, nested, decision, around, outer }) = started else {
        return;
    };
    worker.team.set(outer);
    if let Some(around) = around {
        part.later(waits::end_part(worker, around, Some(part.since(team.own.begun.get()))));
    }
    match team.region {
        Some(region) => {
            worker.end_as(decision.mode, &part, region, 0);
            end(&team);
            if decision.times_waits {
                team.leave_out_own_work(worker);
            }
            team.enter(region, worker, team.time(worker), || nested);
            if decision.meters {
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
