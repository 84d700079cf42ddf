//! Chooses samples by a predictor's advice.

use super::known::{Expected, Known, contains};
use super::search::{Move, WORTH};
use crate::predict::{Predictor, Sample, Step};

/// A predictor's advice from the samples so far.
#[derive(Debug)]
pub(super) struct Advice {
    pub(super) step: Step,
    /// By candidate; empty if the predictor predicts only measured configurations.
    pub(super) expected: Vec<Option<Expected>>,
}

impl Known<'_> {
    /// Asks `predictor`. It gets the sample `counted` of the default if there is one, otherwise the
    /// default's cost.
    /// Predictions are times. They also limit other costs, because on fewer threads no cost grows
    /// with a higher power of the time than `degree`.
    pub(super) fn ask(
        &self,
        predictor: &dyn Predictor,
        counted: &[Sample],
    ) -> crate::Result<Advice> {
        let default = self.level(self.default);
        let seconds = counted.iter().map(Sample::seconds).sum::<f64>() / counted.len() as f64;
        let unit = if counted.is_empty() { 1.0 } else { seconds / default };
        let mut samples = counted.to_vec();
        for at in 0..self.all.len() {
            if self.records[at].is_measured() && (at != self.default || counted.is_empty()) {
                samples.push(Sample::new(self.all[at], self.level(at) * unit)?);
            }
        }
        let step = predictor.step(&samples)?;
        let mut expected = Vec::new();
        // A predictor that lacks a sample or a count still has a step.
        for forecast in predictor.forecast(&samples).unwrap_or_default() {
            let Some(at) = self.all.iter().position(|&on| on == forecast.configuration) else {
                continue;
            };
            if forecast.measured || !forecast.high.is_finite() {
                continue;
            }
            let cost = |time: f64| default * (time / (default * unit)).powi(self.cost_exponent);
            expected.resize(self.all.len(), None);
            let (low, high) = (cost(forecast.low), cost(forecast.high));
            expected[at] = Some(Expected { low, cost: cost(forecast.seconds), high });
        }
        Ok(Advice { step, expected })
    }

    /// Samples the best expected configuration that the credit can pay for.
    /// If there is none, takes a step of the built-in search that may lead to a gain.
    pub(super) fn guided(&self, credit: f64) -> Move {
        let best = self.best();
        let cost = |at: &usize| self.expected(*at).map_or(f64::INFINITY, |one| one.cost);
        let mut promising: Vec<usize> = (0..self.all.len())
            .filter(|&at| !self.records[at].is_measured())
            .filter(|at| cost(at) < self.level(best) * (1.0 - WORTH))
            .collect();
        promising.sort_unstable_by(|a, b| cost(a).total_cmp(&cost(b)));
        if let Some(&at) = promising.iter().find(|&&at| self.risk(at) <= credit) {
            let ratio = cost(&at) / self.level(self.default);
            let why = format!("predicted to cost {ratio:.3} of {}", self.all[self.default]);
            return Move::Run { at, why };
        }
        let cheapest = promising.into_iter().min_by(|&a, &b| self.risk(a).total_cmp(&self.risk(b)));
        match cheapest {
            Some(at) => Move::Wait { at, risk: self.risk(at) },
            None => self.climb(credit),
        }
    }

    /// Whether the forecast allows a gain at `at` that is worth a sample; true without a forecast.
    pub(super) fn promises(&self, at: usize, best: usize) -> bool {
        self.expected(at).is_none_or(|one| one.low < self.level(best) * (1.0 - WORTH))
    }

    /// The next sample of a predictor that only samples. If it is too costly, a configuration on
    /// the way there.
    pub(super) fn follow(&self, step: Step, credit: f64) -> Move {
        let wish = step.configuration();
        let Some(at) = self.all.iter().position(|&on| on == wish) else {
            return Move::Decide { why: format!("the predictor wants {wish}, which is not there") };
        };
        match step {
            Step::Decide { why, .. } => return Move::Decide { why },
            Step::Sample { events, .. } if !events.is_empty() => {
                let why = format!("the predictor wants counts of {}", events.join(", "));
                return Move::Decide { why };
            }
            // A second sample would not change the predictor's answer, because it gets levels.
            _ if self.records[at].is_measured() => {
                return Move::Decide { why: format!("the predictor asks for {wish} again") };
            }
            Step::Sample { .. } | Step::Verify { .. } => {}
        }
        if self.risk(at) <= credit {
            return Move::Run { at, why: step.why().to_owned() };
        }
        let on_the_way = (0..self.all.len())
            .filter(|&other| !self.records[other].is_measured() && contains(self.all[other], wish));
        let on_the_way: Vec<usize> = on_the_way.collect();
        let affordable = on_the_way.iter().filter(|&&other| self.risk(other) <= credit);
        if let Some(&other) = affordable.min_by_key(|&&other| self.all[other].threads()) {
            return Move::Run { at: other, why: format!("on the way to {wish}") };
        }
        let dear = |&at: &usize| self.risk(at);
        let next = on_the_way.into_iter().min_by(|a, b| dear(a).total_cmp(&dear(b)));
        let at = next.unwrap_or(at);
        Move::Wait { at, risk: self.risk(at) }
    }
}
