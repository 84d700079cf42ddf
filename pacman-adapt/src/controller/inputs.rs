//! Evidence from elsewhere: earlier runs, predictors, and changes of the machine.

use super::limits::{DISPROVES, is_measurable};
use super::rules::State;
use super::state::Controller;
use crate::candidates::Candidates;
use crate::estimate::{Bursts, Estimate};
use crate::evidence::Evidence;
use crate::known::Expected;
use crate::measured::Measured;
use crate::outlook::Outlook;
use crate::predict::{Configuration, Sample, Step};
use crate::reason::Reason;

/// Executions at the default whose counts are kept: more than any predictor has event sets.
const COUNTED: usize = 8;

impl Controller {
    /// Takes what earlier runs measured. It counts where the work is the same.
    ///
    /// It changes nothing after the first execution. It ignores configurations that the phase does not
    /// have, and ratios that are not finite and above 0.
    ///
    /// ```
    /// use pacman_adapt::{Candidates, Controller, Rules};
    /// use pacman_topology::Topology;
    ///
    /// let candidates = Candidates::of(&Topology::synthetic("4 cores")?, None)?;
    /// let mut first = Controller::new(candidates.clone(), Rules::default());
    /// let run = |phase: &mut Controller| {
    ///     let on = phase.next();
    ///     let seconds = 0.1 * f64::from(on.threads());
    ///     phase.finished(on, seconds, seconds).map(|()| on.threads())
    /// };
    /// for _ in 0..500 {
    ///     run(&mut first)?;
    /// }
    /// let mut next = Controller::new(candidates, Rules::default());
    /// next.recall(first.evidence().into_iter().collect());
    /// assert_eq!((run(&mut next)?, run(&mut next)?), (4, 1));
    /// # Ok::<(), pacman_adapt::Error>(())
    /// ```
    pub fn recall(&mut self, earlier: Vec<Evidence>) {
        if self.account.executions() == 0 {
            self.earlier = earlier;
        }
    }

    /// The costs that this run has measured or recalled. `None` before an execution at the default and one
    /// elsewhere.
    pub fn evidence(&self) -> Option<Evidence> {
        let default = self.candidates.default_index();
        let default_cost = self.records[default].level();
        let over = |at: usize| match self.records[at].is_measured() {
            true => Some(self.records[at].level() / default_cost),
            false => self.known().recalled(at),
        };
        let all = self.candidates.all().iter().enumerate().filter(|(at, _)| *at != default);
        let ratios: Vec<_> = all.filter_map(|(at, &on)| Some((on, over(at)?))).collect();
        (default_cost.is_finite() && !ratios.is_empty()).then_some(Evidence {
            default_cost,
            ratios,
            is_same_work: false,
        })
    }

    /// Enters the evidence of an earlier run, once an execution at the default shows that it is of the
    /// same work.
    pub(super) fn recall_if_alike(&mut self) {
        if self.earlier.is_empty() {
            return;
        }
        let default = self.records[self.candidates.default_index()].level();
        let Some(found) = Evidence::nearest(&self.earlier, default) else { return };
        // Where only the default was disturbed, then or now, the others cost what they did.
        self.recalled_most = (found.default_cost / default).max(1.0) * DISPROVES;
        self.recalled = vec![None; self.records.len()];
        for &(on, ratio) in &found.ratios {
            let Some(at) = self.candidates.index(on) else { continue };
            if is_measurable(ratio) {
                self.recalled[at] = Some(ratio);
            }
        }
        self.earlier.clear();
    }

    /// The events that the predictor wants counted in the next execution; most often none.
    ///
    /// A program that counts them calls [`counted`](Self::counted). Without that call the phase goes on
    /// without predictions.
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
        let expected = if self.disproved { Vec::new() } else { advice.expected };
        // Laws take the place of an expectation that is no longer there.
        let count = |expected: &[Option<Expected>]| expected.iter().flatten().count();
        self.is_new |= count(&expected) != count(&self.expected);
        self.expected = expected;
        Some(advice.step)
    }

    /// Compares the first sample at a configuration with its predicted cost.
    pub(super) fn judge(&mut self, at: usize, cost: f64) {
        let Some(expected) = self.expected.get(at).copied().flatten() else { return };
        // The sample exceeds its predicted limit, so predictions are ignored until the phase changes.
        if cost > expected.most() {
            (self.disproved, self.is_new) = (true, true);
            self.expected.clear();
        }
        // The sample is below its predicted limit. The default is then assumed to be cheaper by the
        // same factor, instead of a larger gain: its only execution may have been a cold start.
        let default = &mut self.records[self.candidates.default_index()];
        if cost < expected.low && default.count() == 1 {
            default.scale(cost / expected.low);
        }
    }

    /// Forgets counts and predictions.
    pub(super) fn forget_advice(&mut self) {
        self.counted.clear();
        self.expected.clear();
        self.wanted = self.rules.first_events(self.candidates.default());
        self.disproved = false;
    }

    /// Continues with other candidates, and returns the old ones that are no longer there.
    ///
    /// Measurements stay valid if the default stays; otherwise the phase starts over.
    pub fn restrict(&mut self, candidates: Candidates) -> Vec<Configuration> {
        let old = std::mem::replace(&mut self.candidates, candidates);
        let there = |on: &&Configuration| self.candidates.index(**on).is_none();
        let dropped: Vec<Configuration> = old.all().iter().filter(there).copied().collect();
        self.gone += dropped.len();
        let stays = self.candidates.default() == old.default();
        let records = self.candidates.all().iter().map(|&on| match old.index(on) {
            Some(at) if stays => self.records[at],
            _ => Estimate::default(),
        });
        self.records = records.collect();
        self.table = self.candidates.table(self.rules.max_smt_gain);
        let measured = (0..self.records.len()).filter(|&at| self.records[at].is_measured());
        self.measured = Measured::new(&self.table, measured);
        self.outlooks = vec![Outlook::default(); self.records.len()];
        self.is_new = true;
        let default = self.candidates.default_index();
        (self.next, self.best) = (default, default);
        self.recalled.clear();
        self.forget_advice();
        if self.state == State::Off || self.state == State::LeftAlone {
            return dropped;
        }
        (self.state, self.samples, self.due) = (State::Sampling, 0, 0);
        if !stays {
            self.seconds.forget();
            self.bursts = [Bursts::default(); 2];
            self.default_cost = f64::INFINITY;
        }
        let names: Vec<String> = dropped.iter().map(ToString::to_string).collect();
        self.reason = Reason::Said(match dropped.len() {
            0 => "the machine has changed".to_owned(),
            count => format!("{count} configurations are gone ({})", names.join(", ")),
        });
        dropped
    }
}
