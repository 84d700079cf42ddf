//! What is learnt from an execution that has ended.

use std::ptr;
use std::sync::atomic::Ordering;

use pacman_core::adapt::{Execution, State};
use pacman_regions::RuntimeFamily;

use super::cached_decision::{CachedDecision, DecisionKind};
use super::restart_cost::Change;
use super::{ADAPTING, Adapting, Choice, record_if_due};
use crate::floating;
use crate::process;
use crate::region::Region;
use crate::worker::Worker;

/// An execution as the program has it took `ticks` with a team of `size`. Computes nothing with
/// floating-point numbers, but where threads are started anew.
pub(crate) fn finished_alone(region: &'static Region, worker: &Worker, size: u32, ticks: u64) {
    let Some(Some(adapting)) = ADAPTING.get() else { return };
    adapting.ended(worker, None, size);
    record_if_due(adapting, region, ticks);
    worker.wait_policy.look(adapting, worker, region.runtime, false);
    if region.runtime.family == RuntimeFamily::Libgomp && worker.pool.changes_to(size) {
        floating::isolated(|| {
            let change = worker.pool.team_of(region, size, false);
            let seconds = change.seconds(ticks as f64 * adapting.seconds_per_tick);
            if let Change::Wider(_, cause) = change {
                let mut phase = cause.adapted.phase.try_lock();
                if let Some(Some(phase)) = phase.as_deref_mut() {
                    phase.charge(seconds + change.ending(), !ptr::eq(cause, region));
                }
            }
        });
    }
    let short = region.adapted.short.load(Ordering::Relaxed);
    if short && ticks > adapting.long {
        // The next ones are looked at, until it is found to be short again.
        region.adapted.short.store(false, Ordering::Relaxed);
        return process::advance_config_epoch();
    }
    let stays = short || (size == 1 && worker.gets_one_thread(region));
    if stays && worker.depth() == 0 {
        let pooled = region.runtime.family == RuntimeFamily::Libgomp;
        let oversubscribes = size > adapting.contexts;
        let kind = DecisionKind { default: size, threads: 0, alone: true, pooled, oversubscribes };
        let high = if short { adapting.long } else { u64::from(u32::MAX) - 1 };
        worker.own_decision(region.number).hold(kind, region.adapted.choice(), high);
    }
}

/// An execution that went [as before](super::Decision::Cached) took `ticks` with a team of `size`, and
/// something is to be done about it.
#[cold]
#[inline(never)]
pub(crate) fn finished_cached(
    region: &'static Region,
    worker: &Worker,
    cached: &CachedDecision,
    size: u32,
    ticks: u64,
) {
    if cached.is_left_alone() {
        return finished_alone(region, worker, size, ticks);
    }
    let choice = Choice::of_the_program(cached.threads());
    floating::isolated(|| finished(region, worker, &choice, size, ticks, 0));
}

/// The execution that was chosen so took `ticks` with a team of `size`, whose members were busy
/// for `busy` ticks in all. Tells the controller, of those that wait to be told as well.
#[cold]
pub(crate) fn finished(
    region: &'static Region,
    worker: &Worker,
    choice: &Choice,
    size: u32,
    ticks: u64,
    busy: u64,
) {
    let Some(Some(adapting)) = ADAPTING.get() else { return };
    adapting.ended(worker, choice.affinity.as_deref(), size);
    learn(adapting, region, worker, choice, (size, ticks, busy));
    record_if_due(adapting, region, ticks);
}

fn learn(
    adapting: &Adapting,
    region: &'static Region,
    worker: &Worker,
    choice: &Choice,
    (size, ticks, busy): (u32, u64, u64),
) {
    let libgomp = region.runtime.family == RuntimeFamily::Libgomp;
    let narrowed = choice.threads > 0;
    let change = match libgomp {
        true => worker.pool.team_of(region, size, narrowed),
        false => Change::None,
    };
    let Some(mut phase) = region.adapted.phase.try_lock() else { return };
    let Some(phase) = phase.as_mut() else { return };
    let cached = worker.cached(region.number);
    let is_held = cached.is_some_and(|cached| cached.held_in(region.adapted.choice()).is_some());
    // Where it is held, that is what was chosen; what waits may end that. Another thread may have
    // chosen something else by now.
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
        return phase.holds(adapting, region, worker);
    }
    let seconds = ticks as f64 * adapting.seconds_per_tick;
    let renewed = matches!(change, Change::Wider(..));
    let times = (seconds, change.seconds(seconds));
    let (own, is_typical) = phase.itself(on, times, renewed, &adapting.objective);
    if let Change::Wider(_, cause) = change {
        let besides = seconds - own + change.ending();
        if ptr::eq(cause, region) {
            phase.charge(besides, false);
        } else if let Some(Some(cause)) = cause.adapted.phase.try_lock().as_deref_mut() {
            cause.charge(besides, !phase.is_new());
        }
    }
    let mut execution = Execution::seconds(own);
    if choice.wants_busy {
        execution = execution.with_busy(busy as f64 * adapting.seconds_per_tick);
    }
    if let (Some(rapl), Some(before)) = (&adapting.rapl, &choice.joules) {
        if let Ok(now) = rapl.read() {
            execution = execution.with_joules(rapl.joules_since(before, &now));
        }
    }
    if !is_typical {
        phase.untypical(&adapting.objective, on, &execution);
        return phase.holds(adapting, region, worker);
    }
    phase.enter(&adapting.objective, on, &execution);
    match phase.controller.state() {
        State::LeftAlone if ticks <= adapting.long && adapting.most == u32::MAX => {
            region.adapted.short.store(true, Ordering::Relaxed);
        }
        state => {
            // Elsewhere who spins takes nothing from who works.
            let matters = adapting.topology.contexts_per_core() > 1
                || phase.default > adapting.contexts
                || adapting.objective.needs_energy();
            let narrowed = narrowed && matters && state == State::Holding;
            worker.wait_policy.look(adapting, worker, region.runtime, narrowed);
        }
    }
    phase.holds(adapting, region, worker);
}
