//! The run of a region: from the call of its entry to the end of its team.

use std::ffi::c_void;
use std::ptr;

use pacman_regions::arena::Nested;

use super::budget;
use super::target::{CallTarget, labelled, nested, observed_team};
use crate::adapt::{self, Choice, packed};
use crate::adapted::TeamChoice;
use crate::energy;
use crate::floating;
use crate::function::Function;
use crate::process;
use crate::region::{self, Region};
use crate::runtime::Runtime;
use crate::seen::Seen;
use crate::team::{AdaptedRun, Call, Chooser, Decision, Team, TeamMode, TeamTime};
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
    let samples = process::plan().samples();
    let known = if samples { region::find(region::key(call.body as u64, 0)) } else { None };
    let target = known.map(CallTarget::known);
    match target.or_else(|| CallTarget::of(call.entry, call.body as u64, call.source)) {
        None => return false,
        Some(CallTarget { region: Some(region), .. }) if samples => {
            let worker = Worker::here();
            match worker.is_untimed() && worker.depth() == 0 {
                true => run_inside_untimed(region, worker, call, start),
                false => run_decided(region, worker, call, start),
            }
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
    let (worker, plan) = (Worker::here(), process::plan());
    if plan.only_observes() && worker.depth() == 0 {
        return run_outermost(region, worker, call(), start, |_, _| ());
    }
    if plan.only_adapts() {
        let Call { entry, threads, .. } = call();
        if let Some(cached) = adapt::cached(region, worker, entry, threads) {
            let call = Call { threads: cached.threads(), ..call() };
            return run_outermost(region, worker, call, start, |size, ticks| {
                adapt::ended_cached(region, worker, cached, size, ticks);
            });
        }
    }
    let start = start;
    run_decided(region, worker, call(), &start);
}

/// Runs a region that is observed, inside no other.
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
        let (since, ticks) = team.time(worker);
        team.enter(region, worker, (since, ticks), || Nested::No);
        ended(team.own.size.get(), ticks);
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
    worker.run_inside(&around, || run_decided(region, worker, call, start));
}

/// Decides the work of the execution, and runs it so.
#[inline(never)]
fn run_decided(base: &'static Region, worker: &Worker, call: Call, start: Start<'_>) {
    let plan = process::plan();
    let region = if plan.runs_kernels() { labelled(base, worker) } else { base };
    let nested = nested(region, worker);
    let decision = Decision::of(plan, nested, call.entry != Function::GOMP_teams_reg);
    if decision.chooser != Chooser::Packing {
        packed::step_aside();
    }
    if decision.waits_outside {
        waits::note_root(worker);
    }
    let Call { entry, threads, .. } = call;
    let execution = Execution { region, worker, call, nested, decision, start };
    match decision.chooser {
        Chooser::Program => execution.run(threads, |_, _| ()),
        Chooser::Controller => match adapt::decide(region, worker, entry, threads) {
            Choice::Cached(cached) => execution.run(cached.threads(), |size, ticks| {
                adapt::ended_cached(region, worker, cached, size, ticks);
            }),
            Choice::Unadapted => execution.run(threads, |size, ticks| {
                adapt::finished_alone(region, worker, size, ticks);
            }),
            Choice::Once(choice) => execution.run_adapted(choice),
        },
        Chooser::Packing => {
            let before = packed::before(region, worker);
            execution.run(threads, |size, ticks| {
                if packed::after(region, worker, before.as_ref(), size, ticks) {
                    adapt::record_outcome(region);
                }
            });
        }
        Chooser::Budget => execution.run_sampled(),
    }
}

/// An execution that has been decided.
struct Execution<'e> {
    region: &'static Region,
    worker: &'e Worker,
    call: Call,
    nested: Nested,
    decision: Decision,
    start: Start<'e>,
}

impl Execution<'_> {
    /// Runs it with a team of `threads`. `ended` gets the size of the team and the ticks.
    fn run(&self, threads: u32, ended: impl FnOnce(u32, u64)) {
        let Execution { region, worker, nested, .. } = *self;
        let team = observed_team(&self.call, region, worker, nested);
        worker.run_as_primary(|| {
            let time = self.start(&team, threads, self.decision.mode, self.start);
            team.enter(region, worker, time, || nested);
            ended(team.own.size.get(), time.1);
        });
    }

    /// Has the runtime start the team in `mode`, and does what is decided for its begin and its end. Answers the
    /// ticks from the start of the process to the execution, and those of the execution.
    fn start(&self, team: &Team, threads: u32, mode: TeamMode, start: Start<'_>) -> (u64, u64) {
        let Execution { region, worker, decision, .. } = *self;
        let outer = worker.team.get();
        let run = || {
            if decision.meters {
                energy::begin(worker.address());
            }
            team.own.begun.set(worker.now());
            worker.starts(|| start(team, threads, mode));
            worker.team.set(outer);
            if decision.times_waits {
                team.leave_out_own_work(worker);
            }
            let time = team.time(worker);
            if decision.meters {
                energy::end(worker.address(), region.number);
            }
            time
        };
        match decision.waits_outside {
            true => worker.waits.start_region(|| worker.now(), run),
            false => run(),
        }
    }

    /// Runs it for all executions that it stands for, and chooses the next one that is timed.
    fn run_sampled(&self) {
        let Execution { region, worker, nested, .. } = *self;
        let called = worker.now();
        let team = observed_team(&self.call, region, worker, nested);
        team.set_weight(worker.rows.weight(region.number));
        worker.run_as_primary(|| {
            let (since, ticks) =
                self.start(&team, self.call.threads, self.decision.mode, self.start);
            // The error and the choice are computed in floating point, and the program may trap.
            floating::isolated(|| {
                team.enter_weighted(region, worker, since, ticks);
                budget::choose_next(worker, region, called, since, ticks, team.own.size.get());
            });
        });
    }

    /// Runs it with the team that its controller has chosen for it alone.
    fn run_adapted(&self, choice: TeamChoice) {
        let Execution { region, worker, nested, .. } = *self;
        let team = observed_team(&self.call, region, worker, nested);
        let adapted = AdaptedRun { choice, time: TeamTime::default() };
        let mode = if adapted.concerns_members() {
            team.adapted.set(&raw const adapted);
            TeamMode::Adapted
        } else {
            self.decision.mode
        };
        let measured = |team: &Team, threads, mode| {
            process::time_waits_of(|| (self.start)(team, threads, mode));
            team.own.begun.set(team.own.begun.get() + worker.useful.own_work());
        };
        let start = if adapted.choice.measures_waits { &measured } else { self.start };
        worker.run_as_primary(|| {
            let time = self.start(&team, adapted.choice.threads, mode, start);
            team.enter(region, worker, time, || nested);
            if nested == Nested::No {
                worker.binding.bind(None);
            }
            let (size, ticks) = (team.own.size.get(), time.1);
            if !adapted.choice.teaches() {
                return adapt::finished_alone(region, worker, size, ticks);
            }
            floating::isolated(|| {
                adapt::finished(region, worker, &adapted.choice, size, ticks, &adapted.time);
            });
        });
    }
}
