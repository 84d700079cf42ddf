//! What adaptation knows of a region.

use std::sync::Arc;

use pacman_core::adapt::{Candidates, Controller, Rules};
use pacman_core::predict::Configuration;
use pacman_regions::RuntimeFamily;

use super::charge::of_a_thread;
use super::{Adapting, BREAK_EVEN, model};
use crate::process;
use crate::region::Region;

/// A region with teams of one size, and who chooses among smaller ones.
#[derive(Debug)]
pub(super) struct Phase {
    /// The threads that the runtime would have given it.
    pub(super) default: u32,
    pub(super) controller: Controller,
    /// With which power of the time the cost grows.
    degree: i32,
    /// Where its latest execution on fewer threads ran, and the seconds and cost of that.
    pub(super) narrowed: Option<(Configuration, f64, f64)>,
    /// Teams that did not get the size that was chosen.
    pub(super) refused: u64,
}

impl Phase {
    /// Of `region`, which would have `default` threads; `None` if there is nothing to choose from.
    pub(super) fn of(adapting: &Adapting, region: &Region, default: u32) -> Option<Phase> {
        let mut candidates =
            Candidates::for_team(&adapting.topology, default as usize, None).ok()?;
        if adapting.topology.contexts_per_core() > 1 && !adapting.places {
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
        Some(Phase { default, degree, controller, narrowed: None, refused: 0 })
    }

    /// Its latest execution on fewer threads has cost so many seconds elsewhere; another region's,
    /// which had its own size of team, or its own next.
    pub(super) fn charge(&mut self, seconds: f64, another_s: bool) {
        let Some((on, took, cost)) = self.narrowed else { return };
        let longer = (1.0 + seconds / took).powi(self.degree);
        self.controller.charge(on, cost * (longer - 1.0), another_s);
    }
}
