//! Phases between their region and the cached decisions of its threads.

use std::sync::Arc;

use pacman_adapt::{Controller, Rules};
use pacman_regions::RuntimeFamily;

use super::adapting::{self, Adapting, BREAK_EVEN};
use super::model;
use super::restart_cost::thread_cost;
use crate::adapted::{BATCH, CachedDecision, DecidedBy, DecisionKind, Phase};
use crate::notes;
use crate::region::Region;
use crate::worker::Worker;

/// Seconds that a new thread waits for a context on which others spin: a time slice. Traces of
/// decisions on two contexts had 2 to 4 ms for the first team of four after one of two.
const SLICE: f64 = 3e-3;

/// Seconds below which an execution of `region` is too short to be decided alone.
pub(super) fn break_even(region: &Region, default: u32) -> f64 {
    match region.runtime.family {
        // A team of more than one thread ends the surplus threads.
        RuntimeFamily::Libgomp if default > 2 => BREAK_EVEN.max(thread_cost().total()),
        _ => BREAK_EVEN,
    }
}

/// Seconds that the first team of `default` threads under libgomp costs after one of fewer, at least two.
pub(super) fn switch_back_cost(adapting: &Adapting, default: u32) -> f64 {
    thread_cost().total() + if default > adapting.contexts() { SLICE } else { 0.0 }
}

impl Phase {
    /// The phase of `region` with teams of `default` threads; `None` if there is no choice.
    pub(super) fn of(
        adapting: &Adapting,
        region: &Region,
        default: u32,
        places: bool,
    ) -> Option<Phase> {
        let is_placed = places || !pacman_adapt::has_places(&adapting.topology);
        let mut candidates = adapting.candidates(default, is_placed)?;
        let mut rules = Rules::default();
        if let Some(predictor) = &adapting.predictor {
            match model::among(predictor.as_ref(), &candidates) {
                Ok(known) => {
                    candidates = known;
                    rules.predictor = Some(Arc::clone(predictor));
                }
                Err(why) => notes::note(format!(
                    "searching without the model where teams have {default} threads: {why}"
                )),
            }
        }
        rules.cost_exponent = adapting.objective.cost_exponent();
        rules.bound = adapting::loss_limits();
        rules.break_even = break_even(region, default);
        if region.runtime.family == RuntimeFamily::Libgomp && default > 2 {
            rules.switch_back_cost = switch_back_cost(adapting, default);
        }
        let degree = rules.cost_exponent;
        let memory = adapting.memory.as_ref();
        let earlier = memory.map(|memory| memory.evidence(region, default, places));
        let mut controller = Controller::new(candidates, rules);
        controller.recall(earlier.unwrap_or_default());
        Some(Phase::new(places, degree, controller))
    }

    /// Reports the executions that `cached` noted, if they were held by the present choice.
    pub(super) fn catch_up(
        &mut self,
        adapting: &Adapting,
        region: &Region,
        cached: &CachedDecision,
    ) {
        let mut seconds = [0.0; BATCH];
        let mut count = 0;
        if cached.held_in(region.adapted.generation()).is_none() {
            return cached.drain(|_| ());
        }
        cached.drain(|ticks| {
            seconds[count] = ticks as f64 * adapting.seconds_per_tick;
            count += 1;
        });
        let [.., latest] = seconds[..count] else { return };
        let on = self.controller.next();
        // The controller names a refused execution in `why`.
        let _ = self.controller.finished_together(on, &seconds[..count]);
        self.note_reduced(on, latest, latest);
    }

    /// Caches how `region` is held from now on, if the controller need not see each execution.
    pub(super) fn hold(&mut self, adapting: &Adapting, region: &Region, worker: &Worker) {
        let on = self.controller.next();
        let usual = self.controller.drift_limit().filter(|_| {
            let is_bound = self.places && on != self.controller.candidates().default();
            adapting.objective.is_time() && !is_bound
        });
        let held = usual.map(|_| on);
        if held != self.held {
            self.held = held;
            self.useful.search_anew();
            region.adapted.advance_generation();
        }
        let default = worker.pool.usual(region.runtime).filter(|_| worker.depth() == 0);
        let (Some(usual), Some(default)) = (usual, default) else { return };
        let kind = DecisionKind {
            default,
            threads: if on.threads() < default { on.threads() } else { 0 },
            by: DecidedBy::Controller,
            pooled: region.runtime.family == RuntimeFamily::Libgomp,
            oversubscribes: on.threads() > adapting.contexts(),
        };
        let high = (usual / adapting.seconds_per_tick) as u64;
        worker.rows.own_cached_decision(region.number).hold(
            kind,
            region.adapted.generation(),
            high,
        );
    }
}
