//! Ridge regression on standardised log ratios.

use pacman_events::few;
use serde::{Deserialize, Serialize};

use super::Configuration;
use super::feature::{self, Feature, Target};
use super::sample::{Measured, Sample};
use super::step::{Forecast, Predictor, Step};
use super::verify::Rule;
use pacman_events::Result;

/// Predicts times from up to three samples, the reference (all contexts) among them.
///
/// `training::ridge` makes it. It has a regression for each number of samples, so it can forecast
/// after the first sample. The intervals narrow with each further sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ridge {
    pub(super) target: Target,
    /// Sorted configurations; the last is the reference.
    pub(super) configurations: Vec<Configuration>,
    /// The stage at index k uses k + 1 samples: those of the stage before it, and one more.
    pub(super) stages: Vec<Stage>,
    pub(super) rule: Rule,
}

/// The regressions that use one set of samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stage {
    pub(super) samples: Vec<Configuration>,
    pub(super) features: Vec<Standard>,
    /// The penalty on squared coefficients of standardised features, in programs.
    pub(super) penalty: f64,
    pub(super) programs: usize,
    /// The inverse of the penalised normal matrix, from which the leverage follows.
    pub(super) inverse: Vec<Vec<f64>>,
    /// Half of a 90 % interval, in spreads.
    pub(super) half_width: f64,
    pub(super) residual_models: Vec<ResidualModel>,
}

/// A feature, with the mean and scale that standardise it to mean 0 and deviation 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Standard {
    pub(super) feature: Feature,
    pub(super) mean: f64,
    pub(super) scale: f64,
}

/// The deviation of one configuration's log cost from the straight line between samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResidualModel {
    pub(super) configuration: Configuration,
    pub(super) intercept: f64,
    pub(super) slopes: Vec<f64>,
    /// Root mean square of left-out residuals, reduced to leverage 0.
    pub(super) spread: f64,
}

impl Ridge {
    /// The configurations to sample before the first recommendation, in order.
    pub fn plan(&self) -> &[Configuration] {
        self.stages.last().map_or(&[], |stage| &stage.samples)
    }

    /// The inputs of the regression on all planned samples.
    pub fn features(&self) -> impl Iterator<Item = &Feature> {
        let last = self.stages.last().into_iter();
        last.flat_map(|stage| stage.features.iter().map(|standard| &standard.feature))
    }

    /// The penalty of the regression on all planned samples, in programs.
    pub fn penalty(&self) -> f64 {
        self.stages.last().map_or(0.0, |stage| stage.penalty)
    }

    /// The target of the prediction.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The same model with intervals `factor` times as wide, in logarithms.
    ///
    /// `training::Evaluation::calibration` returns a fitting factor.
    pub fn widened(mut self, factor: f64) -> Ridge {
        self.stages.iter_mut().for_each(|stage| stage.half_width *= factor);
        self
    }

    /// The counts that samples at the reference must have.
    pub(super) fn counts(&self) -> Vec<String> {
        self.reference().map_or_else(Vec::new, |reference| self.events(reference))
    }

    /// The counts that a sample at `configuration` must have.
    fn events(&self, configuration: Configuration) -> Vec<String> {
        let mut events: Vec<&str> = self.target.events().to_vec();
        if Some(configuration) == self.reference() {
            let standards = self.stages.iter().flat_map(|stage| &stage.features);
            events.extend(standards.flat_map(|standard| standard.feature.events()));
        }
        few::sort(&mut events);
        events.dedup();
        events.into_iter().map(str::to_owned).collect()
    }

    fn predict(&self, measured: &Measured) -> Result<Vec<Forecast>> {
        let complete = |stage: &&Stage| stage.samples.iter().all(|&on| measured.at(on).is_some());
        let Some(stage) = self.stages.iter().rev().find(complete) else {
            // The error names the first missing sample.
            let first = self.stages.first().and_then(|stage| stage.samples.first());
            let missing = first.map(|&on| feature::at(measured, on)).transpose();
            return missing.map(|_| Vec::new());
        };
        let reference = stage.samples[0];
        let seconds = feature::at(measured, reference)?.seconds();
        let points = points(measured, &stage.samples, self.target)?;
        let inputs: Result<Vec<f64>> = stage
            .features
            .iter()
            .map(|standard| {
                let value = standard.feature.value(measured, reference, self.target)?;
                Ok((value - standard.mean) / standard.scale)
            })
            .collect();
        let inputs = inputs?;
        let leverage = stage.leverage(&inputs);
        let mut forecasts: Vec<Forecast> = measured.iter().map(Forecast::measured).collect();
        let unmeasured =
            |residual_model: &&ResidualModel| measured.at(residual_model.configuration).is_none();
        for residual_model in stage.residual_models.iter().filter(unmeasured) {
            let slope: f64 = residual_model.slopes.iter().zip(&inputs).map(|(b, x)| b * x).sum();
            let log =
                line(&points, residual_model.configuration) + residual_model.intercept + slope;
            let half_width = stage.half_width * residual_model.spread * (1.0 + leverage).sqrt();
            forecasts.push(Forecast {
                configuration: residual_model.configuration,
                seconds: seconds * log.exp(),
                low: seconds * (log - half_width).exp(),
                high: seconds * (log + half_width).exp(),
                measured: false,
            });
        }
        few::sort_by_key(&mut forecasts, |forecast| forecast.configuration);
        Ok(forecasts)
    }

    /// Whether the parts fit together, which a file does not guarantee.
    pub(super) fn is_sound(&self) -> bool {
        let ordered = self.configurations.is_sorted_by(|a, b| a < b);
        let reference = self.reference();
        let known = |on: &Configuration| self.configurations.contains(on);
        let sound = |(index, stage): (usize, &Stage)| {
            let width = stage.features.len();
            stage.samples.len() == index + 1
                && stage.samples.first().copied() == reference
                && stage.samples.iter().all(known)
                && self.stages[..index].iter().all(|one| stage.samples.starts_with(&one.samples))
                && stage.inverse.len() == width
                && stage.inverse.iter().all(|row| row.len() == width)
                && stage.features.iter().all(|standard| standard.scale > 0.0)
                && stage.residual_models.iter().all(|residual_model| {
                    known(&residual_model.configuration)
                        && residual_model.slopes.len() == width
                        && residual_model.spread >= 0.0
                })
                && stage.programs > 0
        };
        ordered && !self.stages.is_empty() && self.stages.iter().enumerate().all(sound)
    }
}

impl Predictor for Ridge {
    fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }

    fn step(&self, samples: &[Sample]) -> Result<Step> {
        let measured = Measured::new(samples, &self.configurations)?;
        let plan = self.plan();
        if let Some(at) = plan.iter().position(|&on| measured.at(on).is_none()) {
            return Ok(Step::Sample {
                configuration: plan[at],
                events: self.events(plan[at]),
                why: format!("sample {} of {} that the model predicts from", at + 1, plan.len()),
            });
        }
        self.rule.settle(&self.predict(&measured)?, &measured, plan.len())
    }

    fn forecast(&self, samples: &[Sample]) -> Result<Vec<Forecast>> {
        self.predict(&Measured::new(samples, &self.configurations)?)
    }

    fn reference(&self) -> Option<Configuration> {
        self.configurations.last().copied()
    }

    fn needs_times(&self) -> bool {
        self.target.gives_times()
    }

    fn needs_counts(&self) -> Vec<String> {
        self.counts()
    }
}

impl Stage {
    /// The leverage of these inputs: their distance from the mean of the training programs.
    fn leverage(&self, inputs: &[f64]) -> f64 {
        let product = |row: &Vec<f64>| row.iter().zip(inputs).map(|(a, x)| a * x).sum::<f64>();
        let spread: f64 = self.inverse.iter().zip(inputs).map(|(row, x)| x * product(row)).sum();
        1.0 / self.programs as f64 + spread
    }
}

/// ln threads and ln cost ratio of each sample, in order of threads.
pub(super) fn points(
    measured: &Measured,
    samples: &[Configuration],
    target: Target,
) -> Result<Vec<(f64, f64)>> {
    let mut points = Vec::new();
    for &on in samples {
        let ratio = Feature::Ratio(on).value(measured, samples[0], target)?;
        points.push((position(on), ratio));
    }
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    Ok(points)
}

/// The ln cost ratio without training: the straight line between samples in log-log scale.
///
/// Below the lowest sample the speed-up is ideal, above the highest there is none. Samples with
/// the same number of threads count by their mean.
pub(super) fn line(points: &[(f64, f64)], on: Configuration) -> f64 {
    let x = position(on);
    let mean = |same: f64| {
        let values = points.iter().filter(|point| point.0 == same).map(|point| point.1);
        let (sum, count) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
        sum / count
    };
    let below = points.iter().map(|point| point.0).filter(|&at| at <= x).reduce(f64::max);
    let above = points.iter().map(|point| point.0).filter(|&at| at >= x).reduce(f64::min);
    match (below, above) {
        (Some(low), Some(high)) if low < high => {
            mean(low) + (mean(high) - mean(low)) * (x - low) / (high - low)
        }
        (Some(low), _) => mean(low),
        (None, Some(high)) => mean(high) + (high - x),
        (None, None) => 0.0,
    }
}

fn position(on: Configuration) -> f64 {
    f64::from(on.threads()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(text: &str) -> Configuration {
        text.parse().unwrap()
    }

    #[test]
    fn the_line_is_straight_between_samples_and_ideal_below() {
        let points = [(4f64.ln(), 0.5), (16f64.ln(), -0.5)];
        assert!((line(&points, on("8")) - 0.0).abs() < 1e-12);
        assert!((line(&points, on("4")) - 0.5).abs() < 1e-12);
        assert!((line(&points, on("2")) - (0.5 + 2f64.ln())).abs() < 1e-12);
        assert!((line(&points, on("32")) - -0.5).abs() < 1e-12);
    }

    #[test]
    fn equal_thread_counts_count_by_their_mean() {
        let points = [(4f64.ln(), 1.0), (8f64.ln(), 0.2), (8f64.ln(), 0.4)];
        assert!((line(&points, on("4x2")) - 0.3).abs() < 1e-12);
        let between = on("6");
        let share = (6f64.ln() - 4f64.ln()) / 2f64.ln();
        assert!((line(&points, between) - (1.0 - 0.7 * share)).abs() < 1e-12);
    }
}
