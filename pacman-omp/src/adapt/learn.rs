//! What is learnt from an execution that has ended.

use std::ptr;
use std::sync::atomic::Ordering;

use pacman_core::adapt::{Execution, State};
use pacman_regions::RuntimeFamily;

use super::charge::Change;
use super::{ADAPTING, Choice, waiting};
use crate::floating;
use crate::region::Region;
use crate::worker::Worker;

/// An execution as the program has it took `ticks` with a team of `size`. Computes nothing with
/// floating-point numbers, but where threads are started anew.
pub(crate) fn finished_alone(region: &'static Region, worker: &Worker, size: u32, ticks: u64) {
    let Some(Some(adapting)) = ADAPTING.get() else { return };
    adapting.ended(worker, None, size);
    if region.runtime.family == RuntimeFamily::Libgomp && worker.pool.changes_to(size) {
        floating::apart(|| {
            let change = worker.pool.team_of(region, size, false);
            let seconds = change.seconds(ticks as f64 * adapting.seconds_per_tick);
            if let Change::Wider(_, cause) = change {
                let mut phase = cause.adapted.phase.try_lock();
                if let Some(Some(phase)) = phase.as_deref_mut() {
                    phase.charge(seconds, !ptr::eq(cause, region));
                }
            }
        });
    }
    if ticks > adapting.long && region.adapted.short.load(Ordering::Relaxed) {
        // The next ones are looked at, until it is found to be short again.
        region.adapted.short.store(false, Ordering::Relaxed);
    }
}

/// An execution that was [held](Course::Held) took `ticks` with a team of `size`.
#[inline]
pub(crate) fn finished_held(
    region: &'static Region,
    worker: &Worker,
    threads: u32,
    size: u32,
    ticks: u64,
) {
    let Some(Some(adapting)) = ADAPTING.get() else { return };
    let steady = &region.adapted.steady;
    let as_held = steady.held().is_some_and(|held| held.size() == size);
    let libgomp = region.runtime.family == RuntimeFamily::Libgomp;
    if as_held && !(libgomp && worker.pool.changes_to(size)) && steady.note(ticks) {
        return adapting.ended(worker, None, size);
    }
    let choice = Choice::of_the_program(threads);
    floating::apart(|| learn(region, worker, &choice, size, ticks, 0));
}

/// The execution that was chosen so took `ticks` with a team of `size`, whose members were busy
/// for `busy` ticks in all.
pub(crate) fn finished(
    region: &'static Region,
    worker: &Worker,
    choice: &Choice,
    size: u32,
    ticks: u64,
    busy: u64,
) {
    learn(region, worker, choice, size, ticks, busy);
}

/// Tells the controller, of what waits to be told as well.
#[cold]
fn learn(
    region: &'static Region,
    worker: &Worker,
    choice: &Choice,
    size: u32,
    ticks: u64,
    busy: u64,
) {
    let Some(Some(adapting)) = ADAPTING.get() else { return };
    adapting.ended(worker, choice.crew.as_deref(), size);
    let libgomp = region.runtime.family == RuntimeFamily::Libgomp;
    let narrowed = choice.threads > 0;
    let change = match libgomp {
        true => worker.pool.team_of(region, size, narrowed),
        false => Change::None,
    };
    let Some(mut phase) = region.adapted.phase.try_lock() else { return };
    let Some(phase) = phase.as_mut() else { return };
    // Where it is held, that is what was chosen; what waits may end that.
    let on = choice.on.unwrap_or(phase.controller.next());
    phase.catch_up(adapting, &region.adapted.steady);
    if size != on.threads() {
        phase.refused += 1;
        return phase.holds(adapting, region, worker);
    }
    let seconds = ticks as f64 * adapting.seconds_per_tick;
    if let Change::Wider(_, cause) = change {
        // Threads that are new are not yet where they do best: that takes more than their start.
        let usual = phase.controller.level(on).filter(|_| adapting.objective.is_time());
        let besides = change.seconds(seconds).max(usual.map_or(0.0, |usual| seconds - usual));
        if ptr::eq(cause, region) {
            phase.charge(besides, false);
        } else if let Some(Some(cause)) = cause.adapted.phase.try_lock().as_deref_mut() {
            cause.charge(besides, true);
        }
    }
    let mut execution = Execution::seconds(seconds - change.seconds(seconds));
    if choice.wants_busy {
        execution = execution.with_busy(busy as f64 * adapting.seconds_per_tick);
    }
    if let (Some(rapl), Some(before)) = (&adapting.rapl, &choice.joules) {
        if let Ok(now) = rapl.read() {
            execution = execution.with_joules(rapl.joules_since(before, &now));
        }
    }
    phase.enter(&adapting.objective, on, &execution);
    match phase.controller.state() {
        State::LeftAlone if ticks <= adapting.long && adapting.most == u32::MAX => {
            region.adapted.short.store(true, Ordering::Relaxed);
        }
        State::Holding if narrowed && !libgomp => {
            let spare = adapting.topology.contexts_per_core() > 1
                || phase.default > adapting.contexts
                || adapting.objective.needs_energy();
            waiting::block(region.runtime, spare);
        }
        _ => {}
    }
    phase.holds(adapting, region, worker);
}
