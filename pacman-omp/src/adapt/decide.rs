//! Decisions before a team starts.

use std::sync::Arc;

use pacman_adapt::State;
use pacman_adapt::predict::Configuration;
use pacman_core::{Placement, system_calls};

use super::adapting::{self, Adapting};
use super::cached_decision::{CachedDecision, NEVER};
use super::choice::Choice;
use super::group::{self, GroupDecision};
use super::guards;
use super::phase::Phase;
use super::thread_binding::{self, has_bound};
use crate::function::Function;
use crate::isolation::isolated;
use crate::process;
use crate::region::Region;
use crate::seen::Seen;
use crate::worker::Worker;

/// How the next execution of a region runs.
pub(crate) enum Decision<'w> {
    /// As the execution before.
    Cached(&'w CachedDecision),
    /// With the program's own team; the controller learns nothing.
    Unadapted,
    /// With the result of [`choose`].
    Choose,
    /// With energy read around it, and otherwise as [`decide_each`] answers.
    Metered,
}

/// Decides how the next execution of `region` runs. The program asks for `threads`; 0 leaves the
/// number to the runtime.
#[inline(always)]
pub(crate) fn decide<'w>(
    region: &Region,
    worker: &'w Worker,
    entry: Function,
    threads: u32,
) -> Decision<'w> {
    let threads = guards::asked_for(region, worker, threads);
    match worker.rows.cached_decision(region.number) {
        Some(cached) if is_valid(cached, worker, entry, threads) => Decision::Cached(cached),
        known => decide_anew(region, worker, known, entry, threads),
    }
}

/// Whether the next execution by `worker`, a call of `entry` that asks for `threads`, runs as before.
#[inline(always)]
fn is_valid(cached: &CachedDecision, worker: &Worker, entry: Function, threads: u32) -> bool {
    cached.is_valid(entry, threads, || worker.is_plain(), &worker.oversubscribed)
}

/// Decides where no cached decision is valid.
#[inline(never)]
fn decide_anew<'w>(
    region: &Region,
    worker: &'w Worker,
    known: Option<&'w CachedDecision>,
    entry: Function,
    threads: u32,
) -> Decision<'w> {
    if process::is_metered() {
        return Decision::Metered;
    }
    decide_in(process::config_epoch(), region, worker, known, entry, threads)
}

/// Decides for one execution only: no decision stays valid, so that every execution comes back to
/// [`decide`].
pub(crate) fn decide_each<'w>(
    region: &Region,
    worker: &'w Worker,
    entry: Function,
    threads: u32,
) -> Decision<'w> {
    let threads = guards::asked_for(region, worker, threads);
    let known = worker.rows.cached_decision(region.number);
    decide_in(NEVER, region, worker, known, entry, threads)
}

/// Decides, and has the decision stay valid in `epoch`.
#[inline(always)]
fn decide_in<'w>(
    epoch: u32,
    region: &Region,
    worker: &'w Worker,
    known: Option<&'w CachedDecision>,
    entry: Function,
    threads: u32,
) -> Decision<'w> {
    let adapted = &region.adapted;
    if has_bound() {
        return Decision::Choose;
    }
    let alone = known.filter(|cached| cached.is_left_alone());
    let plain = threads == 0 && worker.is_plain();
    let by_itself = || plain && alone.is_some() && has_no_choice(worker, region);
    // Beside other programs a short region runs with the share, and without a decision.
    let is_squeezed = plain && is_squeezed(worker, region);
    if !is_squeezed && (adapted.is_short() || by_itself()) {
        let grouped = adapting::prepared()
            .filter(|_| plain && adapted.is_short())
            .filter(|adapting| !guards::forbid(adapting.lifted, region, worker, entry, threads))
            .and_then(|adapting| group::decide(adapting, region, worker));
        match grouped {
            Some(GroupDecision::Cached) => {
                let cached = worker.rows.own_cached_decision(region.number);
                cached.validate(epoch, entry);
                return Decision::Cached(cached);
            }
            Some(GroupDecision::Once { .. }) => return Decision::Choose,
            None => {}
        }
        // A question before this region must not count for the next one.
        guards::take(region, worker);
        if let Some(cached) = alone.filter(|_| plain) {
            cached.validate(epoch, entry);
        }
        return Decision::Unadapted;
    }
    let Some(adapting) = adapting::prepared() else { return Decision::Choose };
    let held = known.and_then(|cached| Some((cached, cached.held_in(adapted.generation())?)));
    let Some((cached, kind)) = held else { return Decision::Choose };
    let stays = worker.depth() == 0
        && !(worker.oversubscribed.get() && kind.needs_contexts())
        && worker.pool.usual(region.runtime) == Some(kind.default);
    if !stays {
        return Decision::Choose;
    }
    if guards::forbid(adapting.lifted, region, worker, entry, threads) {
        return Decision::Unadapted;
    }
    // With the guard lifted a clause may come here; its decision is not cached.
    if threads == 0 {
        cached.validate(epoch, entry);
    }
    Decision::Cached(cached)
}

/// Chooses how the next execution of `region` runs. The program asks for `threads`; 0 leaves the
/// number to the runtime.
pub(crate) fn choose(region: &Region, worker: &Worker, entry: Function, threads: u32) -> Choice {
    let threads = guards::asked_for(region, worker, threads);
    let as_it_is = || Choice::of_the_program(threads);
    if system_calls::are_forbidden() {
        return as_it_is();
    }
    let Some(adapting) = adapting::get_or_prepare() else { return as_it_is() };
    let adapted = &region.adapted;
    let forbidden = guards::forbid(adapting.lifted, region, worker, entry, threads);
    if forbidden || !adapted.has_run_before() {
        return as_it_is();
    }
    if adapted.is_short() && !is_squeezed(worker, region) {
        return match group::decide(adapting, region, worker).filter(|_| threads == 0) {
            Some(GroupDecision::Once { threads, default }) => {
                let size = if threads > 0 { threads } else { default };
                Choice {
                    threads,
                    affinity: adapting.affinity(worker, size, default, true),
                    on: Configuration::new(size).ok(),
                    ..as_it_is()
                }
            }
            _ => as_it_is(),
        };
    }
    let default = match worker.depth() {
        0 => worker.pool.usual(region.runtime),
        _ => region.runtime.ask(Function::omp_get_max_threads),
    };
    let Some(default) = default else { return as_it_is() };
    let limited = adapting.limited(default);
    if adapting.has_no_choice(default) || adapted.is_short() {
        return Choice { threads: if limited < default { limited } else { threads }, ..as_it_is() };
    }
    // Another thread starts the same region: this execution is left out.
    let Some(mut phase) = adapted.phase.try_lock() else { return as_it_is() };
    let places = adapting.places && thread_binding::may_bind();
    if phase.as_ref().is_none_or(|phase| !phase.is_for(limited, places)) {
        adapted.advance_generation();
        *phase = isolated(|| Phase::of(adapting, region, limited, places));
    }
    let Some(phase) = phase.as_mut() else { return as_it_is() };
    let on = phase.controller.next();
    let places = (places && on != phase.controller.candidates().default())
        .then(|| pacman_adapt::places(&adapting.topology, on, &Placement::Compact).ok())
        .flatten();
    if places.is_some() {
        thread_binding::bind_from_now_on();
    }
    let wants_busy = phase.controller.state() != State::Holding;
    // Tasks are work, and threads run them while they wait.
    let measures_waits = wants_busy
        && on.threads() == limited
        && phase.useful.is_due()
        && region.seen.lacks(Seen::TASKS);
    Choice {
        threads: if on.threads() < default { on.threads() } else { 0 },
        places: places.map(Arc::from),
        affinity: adapting.affinity(worker, on.threads(), default, wants_busy),
        wants_busy,
        measures_waits,
        on: Some(on),
        joules: adapting.rapl.as_ref().and_then(|rapl| rapl.read().ok()),
    }
}

/// Whether other programs leave teams of `worker` fewer threads than the program gives them.
fn is_squeezed(worker: &Worker, region: &Region) -> bool {
    let share = adapting::prepared().map_or(u32::MAX, Adapting::share);
    share < u32::MAX && worker.pool.usual(region.runtime).is_some_and(|usual| share < usual)
}

/// Whether teams that `worker` starts outside of regions have one configuration only.
pub(super) fn has_no_choice(worker: &Worker, region: &Region) -> bool {
    let usual = worker.pool.usual(region.runtime);
    let adapting = adapting::prepared();
    usual.is_some_and(|usual| adapting.is_some_and(|adapting| adapting.has_no_choice(usual)))
}
