//! Chooses samples by a predictor's advice.

use super::known::{Expected, Known};
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
        for &at in self.measured.all() {
            if at != self.default || counted.is_empty() {
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

    /// The configurations that a predictor without a forecast wants: its own choice, or, if the credit cannot
    /// pay for that, those on the way there. Its second wish for a configuration has no answer, because the
    /// predictor gets levels.
    pub(super) fn wished(&self, step: &Step, credit: f64) -> Vec<usize> {
        let none = Vec::new();
        let events = match step {
            Step::Sample { events, .. } => events,
            Step::Verify { .. } => &none,
            Step::Decide { .. } => return Vec::new(),
        };
        let wish = step.configuration();
        let Some(at) = self.all.iter().position(|&on| on == wish) else { return Vec::new() };
        if !events.is_empty() || self.is_seen(at) {
            return Vec::new();
        }
        let on_the_way = |&other: &usize| !self.is_seen(other) && self.table.contains(other, at);
        match self.risk(at) <= credit {
            true => vec![at],
            false => (0..self.all.len()).filter(on_the_way).collect(),
        }
    }
}
