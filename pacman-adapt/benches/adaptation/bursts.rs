//! Another process that takes one processor for a part of the time.

use pacman_adapt::phases::Random;
use pacman_adapt::predict::Configuration;

/// The part of the executions with a burst.
const PART: f64 = 0.1;
/// The mean number of executions that a burst lasts.
const LENGTH: f64 = 5.0;
/// The multiple that an execution takes if one of its threads shares its processor: the thread and the
/// other process take turns, and the others wait for the thread.
const MULTIPLE: f64 = 2.0;

/// The bursts of one phase. They do not depend on the configurations that run.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    random: Random,
    contexts: f64,
    is_on: bool,
    /// The place of the taken processor among all, from 0 to 1.
    place: f64,
}

impl Bursts {
    pub(super) fn new(seed: u64, contexts: u32) -> Bursts {
        let contexts = f64::from(contexts);
        Bursts { random: Random::new(seed), contexts, is_on: false, place: 0.0 }
    }

    /// Goes to the next execution.
    pub(super) fn step(&mut self) {
        let (change, place) = (self.random.unit(), self.random.unit());
        if self.is_on {
            self.is_on = change >= 1.0 / LENGTH;
        } else {
            self.is_on = change < PART / (1.0 - PART) / LENGTH;
            self.place = place;
        }
    }

    /// The factor on the time of an execution at `on`. All contexts are always hit, and fewer with the
    /// probability that the taken processor is among them.
    pub(super) fn factor(&self, on: Configuration) -> f64 {
        let is_hit = self.is_on && self.place < f64::from(on.threads()) / self.contexts;
        if is_hit { MULTIPLE } else { 1.0 }
    }

    /// The mean of that factor over many executions.
    pub(super) fn mean_factor(&self, on: Configuration, disturbed: bool) -> f64 {
        let part = (f64::from(on.threads()) / self.contexts).min(1.0);
        if disturbed { 1.0 + PART * part * (MULTIPLE - 1.0) } else { 1.0 }
    }
}
