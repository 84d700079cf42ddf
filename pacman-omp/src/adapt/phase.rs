//! What adaptation knows of a region.

use std::sync::Arc;

use pacman_core::adapt::{Candidates, Controller, Execution, Objective, Rules};
use pacman_core::predict::Configuration;
use pacman_regions::RuntimeFamily;

use super::charge::of_a_thread;
use super::steady::{MOST, Steady, Way};
use super::{Adapting, BREAK_EVEN, model};
use crate::process;
use crate::region::Region;
use crate::worker::Worker;

/// A region with teams of one size, and who chooses among smaller ones.
#[derive(Debug)]
pub(super) struct Phase {
    /// The threads that the runtime would have given it.
    pub(super) default: u32,
    pub(super) controller: Controller,
    /// Whether members are placed, so that there is a choice between cores and siblings.
    places: bool,
    /// With which power of the time the cost grows.
    degree: i32,
    /// Where its latest execution on fewer threads ran, and the seconds and cost of that.
    narrowed: Option<(Configuration, f64, f64)>,
    /// What it was held at when that was told last.
    held: Option<Configuration>,
    /// Teams that did not get the size that was chosen.
    pub(super) refused: u64,
}

impl Phase {
    /// Of `region`, which would have `default` threads; `None` if there is nothing to choose from.
    pub(super) fn of(
        adapting: &Adapting,
        region: &Region,
        default: u32,
        places: bool,
    ) -> Option<Phase> {
        let mut candidates =
            Candidates::for_team(&adapting.topology, default as usize, None).ok()?;
        if adapting.topology.contexts_per_core() > 1 && !places {
            candidates = candidates.by_threads().ok()?;
        }
        let mut rules = Rules::default();
        if let Some(predictor) = &adapting.predictor {
            match model::among(predictor.as_ref(), &candidates) {
                Ok(known) => {
                    candidates = known;
                    rules.predictor = Some(Arc::clone(predictor));
                }
                Err(why) => process::note(format!(
                    "searching without the model where teams have {default} threads: {why}"
                )),
            }
        }
        rules.degree = adapting.objective.degree();
        rules.break_even = BREAK_EVEN;
        if region.runtime.family == RuntimeFamily::Libgomp && default > 2 {
            // Narrowing to more than one thread ends the others.
            rules.break_even = BREAK_EVEN.max(of_a_thread().whole());
        }
        let degree = rules.degree;
        let controller = Controller::new(candidates, rules);
        Some(Phase { default, degree, controller, places, narrowed: None, held: None, refused: 0 })
    }

    /// Whether it is for teams of `default` threads, which are placed or not.
    pub(super) fn is_for(&self, default: u32, places: bool) -> bool {
        (self.default, self.places) == (default, places)
    }

    /// Its latest execution on fewer threads has cost so many seconds elsewhere; another region's,
    /// which had its own size of team, or its own next.
    pub(super) fn charge(&mut self, seconds: f64, another_s: bool) {
        let Some((on, took, cost)) = self.narrowed else { return };
        let longer = (1.0 + seconds / took).powi(self.degree);
        self.controller.charge(on, cost * (longer - 1.0), another_s);
    }

    /// An execution at `on`.
    pub(super) fn enter(
        &mut self,
        objective: &Objective,
        on: Configuration,
        execution: &Execution,
    ) {
        let cost = objective.cost(execution).unwrap_or(f64::NAN);
        // What it refuses it says in `why`.
        let _ = self.controller.finished_with(on, cost, execution);
        self.was_narrowed(on, execution.seconds, cost);
    }

    /// What is kept in `steady` of executions that were held, and not told yet. What was held by
    /// another choice than the present one is left out.
    pub(super) fn catch_up(&mut self, adapting: &Adapting, region: &Region, steady: &Steady) {
        let mut seconds = [0.0; MOST];
        let mut count = 0;
        if steady.held_by(region.adapted.choice()).is_none() {
            return steady.tell(|_| ());
        }
        steady.tell(|ticks| {
            seconds[count] = ticks as f64 * adapting.seconds_per_tick;
            count += 1;
        });
        let [.., latest] = seconds[..count] else { return };
        let on = self.controller.next();
        // What it refuses it says in `why`.
        let _ = self.controller.finished_together(on, &seconds[..count]);
        self.was_narrowed(on, latest, latest);
    }

    fn was_narrowed(&mut self, on: Configuration, seconds: f64, cost: f64) {
        if on.threads() < self.default {
            self.narrowed = Some((on, seconds, cost));
        }
    }

    /// Says how `region` is held from now on, if the controller need not be asked for each
    /// execution.
    pub(super) fn holds(&mut self, adapting: &Adapting, region: &Region, worker: &Worker) {
        let on = self.controller.next();
        let usual = self.controller.usual().filter(|_| {
            adapting.objective.is_time() && (!self.places || on.threads() == self.default)
        });
        let held = usual.map(|_| on);
        if held != self.held {
            self.held = held;
            region.adapted.chooses_anew();
        }
        let default = worker.pool.usual(region.runtime).filter(|_| worker.depth() == 0);
        let (Some(usual), Some(default)) = (usual, default) else { return };
        let way = Way {
            default,
            threads: if on.threads() < default { on.threads() } else { 0 },
            alone: false,
            pooled: region.runtime.family == RuntimeFamily::Libgomp,
            crowds: on.threads() > adapting.contexts,
        };
        let high = (usual / adapting.seconds_per_tick) as u64;
        worker.own_steady(region.number).hold(way, region.adapted.choice(), high);
    }
}
