//! The exchange between the controller and its predictor.

use super::rules::State;
use super::state_machine::Controller;
use crate::predict::{Sample, Step};
use crate::search::Move;

/// Executions at the default whose counts are kept: more than any predictor has event sets.
const COUNTED: usize = 8;

impl Controller {
    /// The events that the predictor wants counted in the next execution; most often none.
    ///
    /// A program that counts them calls [`counted`](Self::counted). Without that call the search
    /// goes on without predictions.
    pub fn wanted(&self) -> &[String] {
        if self.next == self.candidates.default_index() { &self.wanted } else { &[] }
    }

    /// Takes the counts of the execution that the next call of [`finished`](Self::finished)
    /// reports.
    ///
    /// It ignores counts at configurations other than the default, and counts that are no longer
    /// wanted.
    pub fn counted(&mut self, sample: Sample) {
        let wanted = sample.configuration() == self.candidates.default()
            && self.state == State::Sampling
            && !self.wanted.is_empty()
            && self.counted.len() < COUNTED;
        if wanted {
            self.counted.push(sample);
        }
    }

    /// Asks the predictor again, if it may have a new answer.
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

    /// Whether predictions replace the second execution at the default.
    ///
    /// A second execution would show that the first was costly by accident. Samples that are
    /// cheaper than predicted show it as well, and [`judge`](Self::judge) allows for it.
    pub(super) fn is_predicted(&self) -> bool {
        self.predicted
    }

    /// Compares a sample with its expected cost.
    pub(super) fn judge(&mut self, at: usize) {
        let Some(expected) = self.expected.get(at).copied().flatten() else { return };
        let level = self.records[at].level();
        // The sample exceeds its predicted limit, so predictions are ignored until the next search.
        self.disproved |= level > expected.most();
        // The sample is below its predicted limit. The default is then assumed to be cheaper by the
        // same factor, instead of a larger gain.
        let default = &mut self.records[self.candidates.default_index()];
        if level < expected.low && default.count() == 1 {
            default.scale(level / expected.low);
        }
    }

    /// Forgets counts and predictions.
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
            // A prediction from the samples is not better.
            self.known().climb(credit)
        } else if samples || self.expected.is_empty() {
            self.known().follow(step, credit)
        } else {
            self.known().guided(credit)
        }
    }
}
