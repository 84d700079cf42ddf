//! Learning from executions that have ended.

use std::ptr;

use pacman_adapt::{Execution, State};
use pacman_regions::RuntimeFamily;

use super::adapting::{self, Adapting};
use super::decide::has_no_choice;
use super::group;
use super::hold::break_even;
use super::outcome::{record_group, record_if_due};
use super::restart_cost::charge_alone;
use crate::adapted::{Adapted, CachedDecision, Change, DecidedBy, DecisionKind, TeamChoice};
use crate::floating;
use crate::process;
use crate::region::Region;
use crate::seen::Seen;
use crate::team::TeamTime;
use crate::worker::Worker;

/// An execution with the program's own team of `size` took `ticks`. Uses no floating-point arithmetic
/// unless threads started anew.
pub(crate) fn finished_alone(region: &'static Region, worker: &Worker, size: u32, ticks: u64) {
    let Some(adapting) = adapting::prepared() else { return };
    adapting.ended(worker, None, size);
    record_if_due(adapting, region, ticks);
    check_wait_policy(adapting, worker, region, false);
    if region.runtime.family == RuntimeFamily::Libgomp && worker.pool.changes_to(size) {
        floating::isolated(|| {
            let change = worker.pool.team_of(&region.adapted, size, false);
            let seconds = change.seconds(ticks as f64 * adapting.seconds_per_tick);
            if let Change::Wider(_, cause) = change {
                charge(cause, seconds + change.ending(), !ptr::eq(cause, &region.adapted));
            }
        });
    }
    let short_below = region.adapted.short_below();
    let short = short_below > 0;
    if short && ticks > short_below {
        // The controller sees the next executions, until the region is found to be short again.
        region.adapted.set_short_below(0);
        return process::advance_config_epoch();
    }
    let stays = short || has_no_choice(worker, region);
    if stays && worker.depth() == 0 {
        let pooled = region.runtime.family == RuntimeFamily::Libgomp;
        let oversubscribes = size > adapting.contexts();
        let by = DecidedBy::Nothing;
        let kind = DecisionKind { default: size, threads: 0, by, pooled, oversubscribes };
        let high = if short { short_below } else { u64::from(u32::MAX) - 1 };
        worker.rows.own_cached_decision(region.number).hold(
            kind,
            region.adapted.generation(),
            high,
        );
    }
}

/// An execution by a [cached decision](super::Choice::Cached) took `ticks` with a team of `size`.
#[inline(always)]
pub(crate) fn ended_cached(
    region: &'static Region,
    worker: &Worker,
    cached: &CachedDecision,
    size: u32,
    ticks: u64,
) {
    if !cached.ended(&worker.pool, &worker.oversubscribed, size, ticks) {
        report_cached(region, worker, cached, size, ticks);
    }
}

#[cold]
#[inline(never)]
fn report_cached(
    region: &'static Region,
    worker: &Worker,
    cached: &CachedDecision,
    size: u32,
    ticks: u64,
) {
    if cached.is_left_alone() {
        return finished_alone(region, worker, size, ticks);
    }
    if cached.is_grouped() {
        return floating::isolated(|| finished_in_group(region, worker, None, (size, ticks)));
    }
    let choice = TeamChoice::of(cached.threads());
    let unmeasured = TeamTime::default();
    floating::isolated(|| finished(region, worker, &choice, size, ticks, &unmeasured));
}

/// An execution by `choice` took `ticks` with a team of `size`, whose members had the times `team`.
/// Reports it to the controller, together with the executions noted so far.
#[cold]
pub(crate) fn finished(
    region: &'static Region,
    worker: &Worker,
    choice: &TeamChoice,
    size: u32,
    ticks: u64,
    team: &TeamTime,
) {
    if let Some(on) = choice.on.filter(|_| region.adapted.is_short()) {
        if let Some(affinity) = choice.affinity.as_deref() {
            affinity.end();
        }
        return finished_in_group(region, worker, Some(on.threads()), (size, ticks));
    }
    let Some(adapting) = adapting::prepared() else { return };
    adapting.ended(worker, choice.affinity.as_deref(), size);
    learn(adapting, region, worker, choice, (size, ticks, team));
    record_if_due(adapting, region, ticks);
}

/// An execution that a group decided took `ticks` with a team of `size`. `once` has the number of threads
/// if it was chosen for this execution alone.
fn finished_in_group(
    region: &'static Region,
    worker: &Worker,
    once: Option<u32>,
    (size, ticks): (u32, u64),
) {
    let Some(adapting) = adapting::prepared() else { return };
    adapting.ended(worker, None, size);
    let change = group::finished(adapting, region, worker, once, (size, ticks));
    check_wait_policy(adapting, worker, region, change.leaves_spinning);
    if change.has_settled {
        return record_group();
    }
    record_if_due(adapting, region, ticks);
}

/// Charges `seconds` that a smaller team of `cause` cost elsewhere: `recurring` in another region.
fn charge(cause: &Adapted, seconds: f64, recurring: bool) {
    if !group::charge(cause, seconds, recurring) {
        charge_alone(cause, seconds, recurring);
    }
}

fn learn(
    adapting: &Adapting,
    region: &'static Region,
    worker: &Worker,
    choice: &TeamChoice,
    (size, ticks, team): (u32, u64, &TeamTime),
) {
    let libgomp = region.runtime.family == RuntimeFamily::Libgomp;
    let reduced = choice.threads > 0;
    let change = match libgomp {
        true => worker.pool.team_of(&region.adapted, size, reduced),
        false => Change::None,
    };
    let Some(mut phase) = region.adapted.phase.try_lock() else { return };
    let Some(phase) = phase.as_mut() else { return };
    let cached = worker.rows.cached_decision(region.number);
    let is_held =
        cached.is_some_and(|cached| cached.held_in(region.adapted.generation()).is_some());
    // A held region ran with the controller's choice, unless another thread has changed it since. The
    // report of the noted executions may end the hold, so this reads the choice first.
    let on = match choice.on {
        Some(on) => on,
        None if is_held => phase.controller.next(),
        None => return,
    };
    if let Some(cached) = cached {
        phase.catch_up(adapting, region, cached);
    }
    if size != on.threads() {
        phase.refused += 1;
        return phase.hold(adapting, region, worker);
    }
    let seconds = ticks as f64 * adapting.seconds_per_tick;
    let renewed = matches!(change, Change::Wider(..));
    let times = (seconds, change.seconds(seconds));
    let (own, is_typical) = phase.itself(on, times, renewed, &adapting.objective);
    if let Change::Wider(_, cause) = change {
        let besides = seconds - own + change.ending();
        if ptr::eq(cause, &region.adapted) {
            phase.charge(besides, false);
        } else {
            charge(cause, besides, !phase.is_new());
        }
    }
    let is_typical = is_typical && !team.is_disturbed(ticks);
    let mut execution = Execution::seconds(own);
    if choice.wants_busy {
        let busy = team.busy() as f64 * adapting.seconds_per_tick;
        execution = execution.with_busy(busy);
        if on.threads() == phase.default() {
            // The members of the team ran tasks while they waited, if there were any.
            let measured = team
                .useful_share(size, adapting.contexts())
                .filter(|_| choice.measures_waits && region.seen.lacks(Seen::TASKS));
            if let Some(share) = phase.useful.executed(busy / own, size.into(), measured) {
                execution = execution.with_useful(share * busy);
            }
        }
    }
    if let (Some(rapl), Some(before)) = (&adapting.rapl, &choice.joules) {
        if let Ok(joules) = rapl.read().and_then(|now| now.joules_since(before)) {
            execution = execution.with_joules(joules);
        }
    }
    if !is_typical {
        phase.outlier(&adapting.objective, on, &execution);
        return phase.hold(adapting, region, worker);
    }
    phase.enter(&adapting.objective, on, &execution);
    match phase.controller.state() {
        State::LeftAlone if adapting.most == u32::MAX => {
            let below = break_even(region, phase.default()) / adapting.seconds_per_tick;
            if ticks <= below as u64 {
                region.adapted.set_short_below(below as u64);
            }
        }
        state => {
            let matters = adapting.spinning_matters(phase.default());
            let reduced = reduced && matters && state == State::Holding;
            check_wait_policy(adapting, worker, region, reduced);
        }
    }
    phase.hold(adapting, region, worker);
}

/// Checks whether the workers of the calling thread should wait otherwise.
#[inline]
pub(super) fn check_wait_policy(
    adapting: &Adapting,
    worker: &Worker,
    region: &Region,
    reduced: bool,
) {
    let widths = || {
        let usual = worker.pool.usual_size();
        (worker.rows.widths(usual), usual)
    };
    let seconds_per_tick = adapting.seconds_per_tick;
    worker.wait_policy.check(seconds_per_tick, region.runtime, reduced, || worker.now(), widths);
}
