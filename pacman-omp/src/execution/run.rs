//! The run of a region: from the call of its entry to the end of its team.

use std::ffi::c_void;
use std::ptr;

use pacman_regions::arena::Nested;

use super::budget;
use super::labels::labelled;
use super::observed::observed_team;
use super::target::CallTarget;
use crate::adapt::{self, Choice, packed};
use crate::adapted::{CachedDecision, TeamChoice};
use crate::energy;
use crate::floating;
use crate::function::Function;
use crate::process;
use crate::region::{self, Region};
use crate::runtime::Runtime;
use crate::seen::Seen;
use crate::team::{AdaptedRun, Call, Team, TeamMode, TeamTime};
use crate::worker::{Worker, waits};

/// Has the real entry start a team of the given size, on the body for the given mode. The size 0 leaves it
/// to the runtime.
///
/// The frequent paths are compiled into each entry. The others take this, and are in the library once.
type Start<'a> = &'a dyn Fn(&Team, u32, TeamMode);

/// Runs one execution of `body` for a call. False if there is no runtime at all.
///
/// `start` is a [`Start`] with its arguments by value: a reference to them would have the frequent path
/// store them, too. `bare` passes the call on to a runtime as it is.
#[inline(always)]
pub(crate) fn run(
    body: *const c_void,
    call: impl Fn() -> Call,
    start: impl Fn(&Team, u32, TeamMode),
    bare: impl FnOnce(&'static Runtime),
) -> bool {
    match region::candidate(body as u64) {
        Some(first) => run_known(first, body, call, start),
        None => {
            if let Some((untimed, runtime)) = budget::untimed(body as u64) {
                bare(runtime);
                untimed.end();
                return true;
            }
            let start = start;
            run_new(call(), &start)
        }
    }
}

/// As [`run`], for an execution of the region whose first candidate is known.
#[inline(always)]
pub(crate) fn run_known(
    first: &'static Region,
    body: *const c_void,
    call: impl Fn() -> Call,
    start: impl Fn(&Team, u32, TeamMode),
) -> bool {
    let Some(region) = region::confirmed(first, body as u64) else {
        let start = start;
        return run_new(call(), &start);
    };
    run_region(region, call, start);
    true
}

/// Runs a region that is not known yet, or not observed, or that has an overhead budget.
#[inline(never)]
pub(crate) fn run_new(call: Call, start: Start<'_>) -> bool {
    // With an overhead budget regions have other keys than their bodies.
    let known = match process::is_sampled() {
        true => region::find(region::key(call.body as u64, 0)),
        false => None,
    };
    let target = known.map(CallTarget::known);
    match target.or_else(|| CallTarget::of(call.entry, call.body as u64, call.source)) {
        None => return false,
        Some(CallTarget { region: Some(region), .. }) if process::is_sampled() => {
            run_sampled(region, Worker::here(), call, start);
        }
        Some(CallTarget { region: Some(region), .. }) => {
            // Where every execution is timed, only the first one is noted: a note takes as long as a short region.
            if call.entry != Function::GOMP_teams_reg {
                let worker = Worker::here();
                worker.opens_part(region.number, 0, worker.now());
            }
            run_region(region, || call, start);
        }
        Some(CallTarget { runtime, region: None }) => {
            packed::step_aside();
            start(&Team::unobserved(&call, runtime), call.threads, TeamMode::Unobserved);
        }
    }
    true
}

/// Each branch makes the call by itself: a shared value would be passed in memory.
#[inline(always)]
fn run_region(
    region: &'static Region,
    call: impl Fn() -> Call,
    start: impl Fn(&Team, u32, TeamMode),
) {
    let worker = Worker::here();
    if process::only_observes() {
        if worker.depth() > 0 {
            let start = start;
            run_inside_another(region, worker, &call(), &start);
            return;
        }
        return run_outermost(region, worker, call(), start, |_, _| ());
    }
    if process::needs_more_than_times() {
        let start = start;
        packed::step_aside();
        return run_labelled(region, worker, call(), &start);
    }
    if process::packs() {
        let start = start;
        return run_packed(region, worker, call(), &start);
    }
    let Call { entry, threads, .. } = call();
    match adapt::cached(region, worker, entry, threads) {
        Some(cached) => run_cached(region, worker, cached, call(), start),
        None => {
            let start = start;
            run_uncached(region, worker, call(), &start);
        }
    }
}

/// Runs the region as the execution before. A cached decision is for regions inside no other.
#[inline(always)]
fn run_cached(
    region: &'static Region,
    worker: &Worker,
    cached: &CachedDecision,
    call: Call,
    start: impl FnOnce(&Team, u32, TeamMode),
) {
    let call = Call { threads: cached.threads(), ..call };
    run_outermost(region, worker, call, start, |size, ticks| {
        if !cached.ended(&worker.pool, &worker.oversubscribed, size, ticks) {
            adapt::finished_cached(region, worker, cached, size, ticks);
        }
    });
}

/// Runs the region with the contexts that packing decides.
#[inline(never)]
fn run_packed(region: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    worker.take_pushed();
    // The members of a league are primary threads themselves.
    if worker.depth() > 0 || call.entry == Function::GOMP_teams_reg {
        packed::step_aside();
        return run_observed(region, worker, call, start, |_, _| ());
    }
    let execution = packed::before(region, worker);
    let start = |team: &Team, threads, _| start(team, threads, TeamMode::Packed);
    run_outermost(region, worker, call, start, |size, ticks| {
        let has_news = packed::after(region, worker, execution.as_ref(), size, ticks);
        has_news.then(|| adapt::record_outcome(region));
    });
}

/// Runs the region with the team of the call. `ended` gets the size of the team and the ticks.
#[inline(always)]
fn run_observed(
    region: &'static Region,
    worker: &Worker,
    call: Call,
    start: impl Fn(&Team, u32, TeamMode),
    ended: impl FnOnce(u32, u64),
) {
    if worker.depth() > 0 {
        let start = start;
        let (size, ticks) = run_inside_another(region, worker, &call, &start);
        return ended(size, ticks);
    }
    run_outermost(region, worker, call, start, ended);
}

/// As [`run_observed`], for a region inside no other.
#[inline(always)]
fn run_outermost(
    region: &'static Region,
    worker: &Worker,
    call: Call,
    start: impl FnOnce(&Team, u32, TeamMode),
    ended: impl FnOnce(u32, u64),
) {
    let primary = ptr::from_ref(worker).cast();
    let team = Team::new(&call, region.runtime, Some(region), 0, primary);
    worker.run_as_primary(|| {
        team.own.begun.set(worker.now());
        worker.starts(|| start(&team, call.threads, TeamMode::Observed));
        let ticks = team.enter_as(region, worker, || Nested::No);
        ended(team.own.size.get(), ticks);
    });
}

/// Runs a region inside of another one. Answers the size of its team and its ticks.
#[inline(never)]
fn run_inside_another(
    region: &'static Region,
    worker: &Worker,
    call: &Call,
    start: Start<'_>,
) -> (u32, u64) {
    let team = observed_team(call, region, worker);
    let (outer, mut ticks) = (worker.team.get(), 0);
    worker.run_as_primary(|| {
        team.own.begun.set(worker.now());
        worker.starts(|| start(&team, call.threads, team.mode_as(TeamMode::Observed)));
        worker.team.set(outer);
        ticks = team.enter(region, worker);
    });
    (team.own.size.get(), ticks)
}

/// Runs the region with the label of the kernel around it, times its waits, or changes the event set.
#[inline(never)]
fn run_labelled(base: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    if process::only_times_waits() {
        return run_with_waits(base, worker, call, start, false);
    }
    let region = if process::runs_kernels() { labelled(base, worker) } else { base };
    if process::rotates_sets() {
        run_rotating(region, worker, call, start);
    } else if process::has_waits() {
        run_with_waits(region, worker, call, start, process::is_metered());
    } else if process::is_traced() {
        run_traced(region, worker, call, start);
    } else if process::is_adapted() {
        run_decided(region, worker, call, start);
    } else if process::is_metered() {
        run_metered(region, worker, call, start);
    } else {
        run_observed(region, worker, call, start, |_, _| ());
    }
}

/// Runs the region and times the waits inside.
#[inline(always)]
fn run_with_waits(
    region: &'static Region,
    worker: &Worker,
    call: Call,
    start: Start<'_>,
    metered: bool,
) {
    let is_outermost = worker.depth() == 0;
    if is_outermost {
        waits::note_root(worker);
    }
    let mode = if process::is_traced() { TeamMode::Traced } else { TeamMode::Waits };
    let start = |team: &Team, threads, _| {
        start(team, threads, team.mode_as(mode));
        team.leave_out_own_work(worker);
    };
    let run = || match metered {
        true => run_metered(region, worker, call, &start),
        false => run_observed(region, worker, call, start, |_, _| ()),
    };
    match is_outermost {
        true => worker.waits.start_region(|| worker.now(), run),
        false => run(),
    }
}

/// Runs the region and logs the execution.
#[inline(never)]
fn run_traced(region: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    let start = |team: &Team, threads, _| start(team, threads, team.mode_as(TeamMode::Traced));
    match process::is_metered() {
        true => run_metered(region, worker, call, &start),
        false => run_observed(region, worker, call, start, |_, _| ()),
    }
}

/// Runs the region with an event set that takes its turn. Waits may be timed as well.
#[inline(never)]
fn run_rotating(region: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    if process::has_waits() && worker.depth() == 0 {
        waits::note_root(worker);
    }
    let start = |team: &Team, threads, _| {
        start(team, threads, team.mode_as(TeamMode::Rotating));
        if process::has_waits() {
            team.leave_out_own_work(worker);
        }
    };
    match process::is_metered() {
        true => run_metered(region, worker, call, &start),
        false => run_observed(region, worker, call, start, |_, _| ()),
    }
}

/// Runs an execution that stands for those around it, and chooses the next one.
fn run_sampled(region: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    if worker.is_untimed() && worker.depth() == 0 {
        return run_inside_untimed(region, worker, call, start);
    }
    // The members of a league are primary threads themselves.
    let is_alone = worker.depth() == 0 && call.entry != Function::GOMP_teams_reg;
    if !is_alone || process::runs_kernels() {
        return run_labelled(region, worker, call, start);
    }
    if process::has_waits() {
        waits::note_root(worker);
    }
    let called = worker.now();
    let team = observed_team(&call, region, worker);
    team.set_weight(worker.rows.weight(region.number));
    let run = || {
        team.own.begun.set(worker.now());
        worker.starts(|| start(&team, call.threads, TeamMode::Sampled));
        if process::has_waits() {
            team.leave_out_own_work(worker);
        }
        team.time(worker)
    };
    worker.run_as_primary(|| {
        let (since, ticks) = match process::has_waits() {
            true => worker.waits.start_region(|| worker.now(), run),
            false => run(),
        };
        // The error and the choice are computed in floating point, and the program may trap.
        floating::isolated(|| {
            team.enter_weighted(region, worker, since, ticks);
            budget::choose_next(worker, region, called, since, ticks, team.own.size.get());
        });
    });
}

/// Runs a region inside of an execution that is not timed.
#[cold]
fn run_inside_untimed(region: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    let outer = worker.untimed_region().and_then(region::numbered);
    if let Some(outer) = outer {
        outer.seen.add(Seen::NESTED);
    }
    let around = Team::new(&call, region.runtime, outer, 0, ptr::null());
    worker.run_inside(&around, || run_labelled(region, worker, call, start));
}

/// Runs the region without a cached decision.
#[inline(never)]
fn run_uncached(region: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    match process::is_metered() {
        true => run_metered(region, worker, call, start),
        false => run_decided(region, worker, call, start),
    }
}

/// Reads the energy around a region that is inside no other.
#[inline(never)]
fn run_metered(region: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    let is_outermost = worker.depth() == 0;
    if is_outermost {
        energy::begin(worker.address());
    }
    if process::is_adapted() {
        run_decided(region, worker, call, start);
    } else {
        run_observed(region, worker, call, start, |_, _| ());
    }
    if is_outermost {
        energy::end(worker.address(), region.number);
    }
}

/// Runs the region as its controller decides.
#[inline(never)]
fn run_decided(region: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    match adapt::decide(region, worker, call.entry, call.threads) {
        Choice::Cached(cached) => run_cached(region, worker, cached, call, start),
        Choice::Unadapted => run_observed(region, worker, call, start, |size, ticks| {
            adapt::finished_alone(region, worker, size, ticks);
        }),
        Choice::Once(choice) => run_adapted(region, worker, choice, &call, start),
    }
}

fn run_adapted(
    region: &'static Region,
    worker: &Worker,
    choice: TeamChoice,
    call: &Call,
    start: Start<'_>,
) {
    let team = observed_team(call, region, worker);
    let outer = worker.team.get();
    let adapted = AdaptedRun { choice, time: TeamTime::default() };
    worker.run_as_primary(|| {
        let mode = if adapted.concerns_members() { TeamMode::Adapted } else { TeamMode::Observed };
        if mode == TeamMode::Adapted {
            team.adapted.set(&raw const adapted);
        }
        team.own.begun.set(worker.now());
        let run = || worker.starts(|| start(&team, adapted.choice.threads, mode));
        if adapted.choice.measures_waits {
            process::time_waits_of(run);
            team.own.begun.set(team.own.begun.get() + worker.useful.own_work());
        } else {
            run();
        }
        worker.team.set(outer);
        let ticks = team.enter(region, worker);
        if team.own.depth == 0 {
            worker.binding.bind(None);
        }
        let size = team.own.size.get();
        if !adapted.choice.teaches() {
            return adapt::finished_alone(region, worker, size, ticks);
        }
        floating::isolated(|| {
            adapt::finished(region, worker, &adapted.choice, size, ticks, &adapted.time);
        });
    });
}
