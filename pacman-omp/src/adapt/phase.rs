//! What adaptation knows of a region.

use std::sync::Arc;

use pacman_core::adapt::{Bound, Candidates, Controller, Execution, Objective, Rules, State};
use pacman_core::predict::Configuration;
use pacman_regions::RuntimeFamily;

use super::cached_decision::{CachedDecision, DecisionKind, MOST};
use super::restart_cost::thread_cost;
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
    /// Whether its latest execution had new threads.
    renewed: bool,
    /// Teams that did not get the size that was chosen.
    pub(super) refused: u64,
}

/// What a thread that is started waits for a context that others spin on, in seconds: a time slice.
/// Traces of decisions on two contexts had 2 to 4 ms for the first team of four after one of two.
const SLICE: f64 = 3e-3;

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
            rules.break_even = BREAK_EVEN.max(thread_cost().whole());
            let waits = if default > adapting.contexts { SLICE } else { 0.0 };
            rules.returning = thread_cost().whole() + waits;
        }
        let degree = rules.degree;
        let controller = Controller::new(candidates, rules);
        Some(Phase {
            default,
            degree,
            controller,
            places,
            narrowed: None,
            held: None,
            renewed: false,
            refused: 0,
        })
    }

    /// Whether it is for teams of `default` threads, which are placed or not.
    pub(super) fn is_for(&self, default: u32, places: bool) -> bool {
        (self.default, self.places) == (default, places)
    }

    /// Whether it has not run for long: it may still be about to get other threads.
    pub(super) fn is_new(&self) -> bool {
        let is_searched = matches!(self.controller.state(), State::Sampling | State::Verifying);
        is_searched && self.controller.account().executions() < Bound::default().turn
    }

    /// What of the `seconds` of an execution at `on` it took by itself, where starting or ending threads
    /// takes `besides`; and whether those after it will take as long. `renewed` if threads were started.
    ///
    /// Threads that are new are not yet where they do best: the first execution with them takes longer
    /// by more than their start. Where they are new in the next one, too, they are so each time; then
    /// some of them start while others work, and that takes less.
    pub(super) fn itself(
        &mut self,
        on: Configuration,
        (seconds, besides): (f64, f64),
        renewed: bool,
        objective: &Objective,
    ) -> (f64, bool) {
        let own = seconds - besides;
        let is_typical = !renewed || self.renewed;
        self.renewed = renewed;
        let usual = self.controller.level(on).filter(|_| renewed && objective.is_time());
        let least = if is_typical { own } else { 0.0 };
        (usual.map_or(own, |usual| usual.clamp(least, seconds)), is_typical)
    }

    /// Its latest execution on fewer threads has cost so many seconds elsewhere; another region's,
    /// which had its own size of team, or its own next.
    pub(super) fn charge(&mut self, seconds: f64, recurring: bool) {
        let Some((on, took, cost)) = self.narrowed else { return };
        let longer = (1.0 + seconds / took).powi(self.degree);
        self.controller.charge(on, cost * (longer - 1.0), recurring);
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

    /// An execution at `on` that tells nothing of those after it.
    pub(super) fn untypical(
        &mut self,
        objective: &Objective,
        on: Configuration,
        execution: &Execution,
    ) {
        self.controller.untypical(on, objective.cost(execution).unwrap_or(f64::NAN));
    }

    /// What is kept in `cached` of executions that were held, and not told yet. What was held by
    /// another choice than the present one is left out.
    pub(super) fn catch_up(
        &mut self,
        adapting: &Adapting,
        region: &Region,
        cached: &CachedDecision,
    ) {
        let mut seconds = [0.0; MOST];
        let mut count = 0;
        if cached.held_in(region.adapted.choice()).is_none() {
            return cached.tell(|_| ());
        }
        cached.tell(|ticks| {
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
        let kind = DecisionKind {
            default,
            threads: if on.threads() < default { on.threads() } else { 0 },
            alone: false,
            pooled: region.runtime.family == RuntimeFamily::Libgomp,
            oversubscribes: on.threads() > adapting.contexts,
        };
        let high = (usual / adapting.seconds_per_tick) as u64;
        worker.own_decision(region.number).hold(kind, region.adapted.choice(), high);
    }
}

#[cfg(test)]
mod tests {
    use pacman_core::Topology;

    use super::*;

    /// Of teams of two, which have run three times for a second each.
    fn known() -> Phase {
        let machine = Topology::synthetic("2 cores").expect("a machine");
        let candidates = Candidates::of(&machine, None).expect("one and two threads");
        let mut controller = Controller::new(candidates, Rules::default());
        let on = controller.next();
        let mut run = || controller.finished(on, 1.0, 1.0).expect("a valid execution");
        (0..3).for_each(|_| run());
        Phase {
            default: 2,
            degree: 1,
            controller,
            places: false,
            narrowed: None,
            held: None,
            renewed: false,
            refused: 0,
        }
    }

    #[test]
    fn the_first_execution_with_new_threads_says_nothing() {
        let mut phase = known();
        let on = phase.controller.candidates().default();
        let mut itself = |seconds, renewed| {
            let besides = if renewed { 0.5 } else { 0.0 };
            phase.itself(on, (seconds, besides), renewed, &Objective::Time)
        };
        assert_eq!(itself(7.0, false), (7.0, true), "a time slice, perhaps: nothing explains it");
        assert_eq!(itself(7.0, true), (1.0, false), "what it usually takes");
        assert_eq!(itself(1.25, true), (1.0, true), "they have started meanwhile");
        assert_eq!(itself(0.75, true), (0.75, true), "even so it is quicker than usual");
        assert_eq!(itself(7.0, true), (6.5, true), "it has become dearer");
        assert_eq!(itself(1.0, false), (1.0, true));
        assert_eq!(itself(0.75, true), (0.75, false));
    }

    #[test]
    fn without_a_usual_time_the_measured_start_is_taken_off() {
        let mut phase = known();
        let alone = phase.controller.candidates().all()[0];
        let energy = Objective::Energy;
        for (on, objective) in [(alone, &Objective::Time), (phase.controller.next(), &energy)] {
            assert_eq!(phase.itself(on, (7.0, 0.5), true, objective), (6.5, false));
            assert_eq!(phase.itself(on, (7.0, 0.5), true, objective), (6.5, true));
            phase.renewed = false;
        }
    }
}
