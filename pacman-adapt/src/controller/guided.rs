//! The exchange between the controller and its predictor.

use super::rules::State;
use super::state_machine::Controller;
use crate::predict::{Sample, Step};
use crate::search::Move;

/// Executions at the default whose counts are kept: more event sets than a predictor has.
const COUNTED: usize = 8;

impl Controller {
    /// The events that the predictor wants counted in the next execution; most often none.
    ///
    /// A program that counts them calls [`counted`](Self::counted). Without that call the search
    /// goes on without predictions.
    pub fn wanted(&self) -> &[String] {
        if self.next == self.candidates.default_index() { &self.wanted } else { &[] }
    }

    /// Takes the counts of the execution that [`finished`](Self::finished) tells next.
    ///
    /// Counts at other configurations than the default, and those of which no more are wanted,
    /// are left out.
    pub fn counted(&mut self, sample: Sample) {
        let wanted = sample.configuration() == self.candidates.default()
            && self.state == State::Sampling
            && !self.wanted.is_empty()
            && self.counted.len() < COUNTED;
        if wanted {
            self.counted.push(sample);
        }
    }

    /// Asks the predictor again, if it can say something new.
    pub(super) fn consult(&mut self) -> Option<Step> {
        let predictor = self.rules.predictor.clone()?;
        let advice = match self.known().ask(predictor.as_ref(), &self.counted) {
            Ok(advice) => advice,
            Err(error) => {
                self.expected.clear();
                let why = format!("the predictor gave up: {error}");
                return Some(Step::Decide { configuration: self.candidates.default(), why });
            }
        };
        let default = self.candidates.default();
        self.wanted = match &advice.step {
            Step::Sample { configuration, events, .. } if *configuration == default => {
                events.clone()
            }
            _ => Vec::new(),
        };
        self.predicted |= !advice.expected.is_empty();
        self.expected = if self.disproved { Vec::new() } else { advice.expected };
        Some(advice.step)
    }

    /// Whether predictions stand for the second execution at the default.
    ///
    /// It is there because a first one may have been dear by accident. That shows in samples
    /// that are cheaper than predicted, and [`judge`](Self::judge) allows for it.
    pub(super) fn is_predicted(&self) -> bool {
        self.predicted
    }

    /// Compares a sample with its expected cost.
    pub(super) fn judge(&mut self, at: usize) {
        let Some(expected) = self.expected.get(at).copied().flatten() else { return };
        let level = self.records[at].level();
        // Dearer than it can be: no prediction is believed until the next search.
        self.disproved |= level > expected.most();
        // Cheaper than it can be: the default is taken to be as much cheaper, not the gain greater.
        let default = &mut self.records[self.candidates.default_index()];
        if level < expected.low && default.count() == 1 {
            default.scale(level / expected.low);
        }
    }

    /// As if nothing had been counted.
    pub(super) fn forget_advice(&mut self) {
        self.counted.clear();
        self.expected.clear();
        self.wanted = self.rules.first_events(self.candidates.default());
        (self.predicted, self.disproved) = (false, false);
    }

    /// The next sample, from the predictor's step.
    pub(super) fn guided(&self, step: Step, credit: f64) -> Move {
        let samples = matches!(step, Step::Sample { .. });
        if self.disproved {
            // The prediction from the samples is no better.
            self.known().climb(credit)
        } else if samples || self.expected.is_empty() {
            self.known().follow(step, credit)
        } else {
            self.known().guided(credit)
        }
    }
}
