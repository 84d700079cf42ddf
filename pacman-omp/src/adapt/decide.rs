//! Decisions before a team starts.

use std::sync::Arc;

use pacman_adapt::State;
use pacman_core::{Placement, system_calls};

use super::adapting::{self, Adapting};
use super::group;
use crate::adapted::{
    Asked, CachedDecision, NEVER, Phase, TeamChoice, bind_from_now_on, has_bound, may_bind,
};
use crate::function::Function;
use crate::isolation::isolated;
use crate::process;
use crate::region::Region;
use crate::seen::Seen;
use crate::worker::Worker;

/// How the next execution of a region runs.
pub(crate) enum Choice<'w> {
    /// As the execution before.
    Cached(&'w CachedDecision),
    /// With the program's own team; the controller learns nothing.
    Unadapted,
    /// With a team for this execution alone.
    Once(TeamChoice),
}

/// The decision that is still valid for the next execution of `region`, a call of `entry` that asks for `threads`; 0
/// leaves the number to the runtime.
#[inline(always)]
pub(crate) fn cached<'w>(
    region: &Region,
    worker: &'w Worker,
    entry: Function,
    threads: u32,
) -> Option<&'w CachedDecision> {
    let cached = worker.rows.cached_decision(region.number)?;
    let is_plain = || worker.is_plain();
    cached.is_valid(entry, threads, is_plain, &worker.oversubscribed).then_some(cached)
}

/// Decides how the next execution of `region` runs, where no earlier decision is valid.
pub(crate) fn decide<'w>(
    region: &Region,
    worker: &'w Worker,
    entry: Function,
    threads: u32,
) -> Choice<'w> {
    // Read before the conditions of the decision.
    let epoch = if process::plan().only_adapts() { process::config_epoch() } else { NEVER };
    let by_clause = worker.take_pushed() || threads > 0;
    let asked = Asked::by(entry, worker.depth(), by_clause, worker.has_set_size());
    region.adapted.request.note(asked);
    let is_allowed = !system_calls::are_forbidden();
    let adapting = is_allowed.then(adapting::get_or_prepare).flatten();
    let (Some(adapting), None) = (adapting, asked) else { return unadapted(threads) };
    let Some(usual) = worker.pool.usual(region.runtime) else { return unadapted(0) };
    let adapted = &region.adapted;
    if !adapted.has_run() {
        adapted.runs();
        return unadapted(0);
    }
    let limited = adapting.limited(usual);
    if limited == usual && adapted.is_short() {
        if let Some(grouped) = group::decide(adapting, region, worker, usual) {
            return valid_in(epoch, entry, grouped);
        }
    }
    if adapted.is_short() || adapting.has_no_choice(usual) {
        return match limited < usual {
            true => Choice::Once(TeamChoice::of(limited)),
            false => left_alone(epoch, region, worker, entry),
        };
    }
    if let Some(cached) = held(region, worker, usual) {
        return valid_in(epoch, entry, Choice::Cached(cached));
    }
    let chosen = choose(adapting, region, worker, usual, limited);
    chosen.map_or_else(|| unadapted(0), Choice::Once)
}

/// The program's own team of `threads`. Threads that were bound get their own masks back.
fn unadapted<'w>(threads: u32) -> Choice<'w> {
    if has_bound() { Choice::Once(TeamChoice::of(threads)) } else { Choice::Unadapted }
}

/// The same choice, which stays valid in `epoch` if it is cached.
fn valid_in(epoch: u32, entry: Function, choice: Choice<'_>) -> Choice<'_> {
    if let Choice::Cached(cached) = choice {
        cached.validate(epoch, entry);
    }
    choice
}

/// The program's own team, for a region that has no other choice.
fn left_alone<'w>(epoch: u32, region: &Region, worker: &'w Worker, entry: Function) -> Choice<'w> {
    let known = worker.rows.cached_decision(region.number);
    match known.filter(|cached| cached.is_left_alone() && !has_bound()) {
        Some(cached) => valid_in(epoch, entry, Choice::Cached(cached)),
        None => unadapted(0),
    }
}

/// The decision by which the controller holds `region`, where teams have `usual` threads and no member has to be moved.
fn held<'w>(region: &Region, worker: &'w Worker, usual: u32) -> Option<&'w CachedDecision> {
    let cached = worker.rows.cached_decision(region.number)?;
    let kind = cached.held_in(region.adapted.generation())?;
    let is_crowded = worker.oversubscribed.get() && kind.needs_contexts();
    (kind.default == usual && !is_crowded && !has_bound()).then_some(cached)
}

/// The team that the region's controller chooses, where teams have `usual` threads and may have `limited`. `None` while
/// another thread starts the same region: that execution is left out.
fn choose(
    adapting: &Adapting,
    region: &Region,
    worker: &Worker,
    usual: u32,
    limited: u32,
) -> Option<TeamChoice> {
    let adapted = &region.adapted;
    let mut phase = adapted.phase.try_lock()?;
    let places = adapting.places() && may_bind();
    if phase.as_ref().is_none_or(|phase| !phase.is_for(limited, places)) {
        adapted.advance_generation();
        *phase = isolated(|| Phase::of(adapting, region, limited, places));
    }
    let phase = phase.as_mut()?;
    let on = phase.controller.next();
    let places = (places && on != phase.controller.candidates().default())
        .then(|| pacman_adapt::places(&adapting.topology, on, &Placement::Compact).ok())
        .flatten();
    if places.is_some() {
        bind_from_now_on();
    }
    let wants_busy = phase.controller.state() != State::Holding;
    // Tasks are work, and threads run them while they wait.
    let measures_waits = wants_busy
        && on.threads() == limited
        && phase.useful.is_due()
        && region.seen.lacks(Seen::TASKS);
    Some(TeamChoice {
        threads: if on.threads() < usual { on.threads() } else { 0 },
        places: places.map(Arc::from),
        affinity: adapting.affinity(worker, on.threads(), usual, wants_busy),
        wants_busy,
        measures_waits,
        on: Some(on),
        joules: adapting.rapl.as_ref().and_then(|rapl| rapl.read().ok()),
    })
}

/// Whether teams that `worker` starts outside of regions have one configuration only.
pub(super) fn has_no_choice(worker: &Worker, region: &Region) -> bool {
    let usual = worker.pool.usual(region.runtime);
    let adapting = adapting::prepared();
    usual.is_some_and(|usual| adapting.is_some_and(|adapting| adapting.has_no_choice(usual)))
}
