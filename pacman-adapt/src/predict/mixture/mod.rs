//! Programs as mixtures of known ones, with samples at the most informative configurations.

mod covariance;
mod guesses;
mod posterior;

use serde::{Deserialize, Serialize};

pub(super) use self::covariance::{Square, unexplained};
pub(super) use self::guesses::{Guess, guesses};
use self::posterior::{Posterior, Prior};
use super::Configuration;
use super::feature;
use super::sample::{Measured, Sample};
use super::step::{self, Forecast, Predictor, Step};
use super::verify::{self, Rule};
use pacman_events::Result;

/// Predicts times of programs as mixtures of known ones, and chooses each sample by the earlier
/// ones.
///
/// `training::mixture` makes it. It models a program's time as the sum of two parts and a residual.
/// Each part resembles a program of the training or a law (serial, ideal, contended, saturated).
/// The residual is a Gaussian process.
///
/// It first samples the reference, which has all contexts. The second sample is the configuration that
/// most reduces the uncertainty of all others. Later samples also count their own expected gain. Then
/// up to three executions verify configurations with an expected gain of at least 0.9 %.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Mixture {
    parts: Parts,
    guesses: Vec<Guess>,
    /// Shares of the programs, each with the covariance of their residuals.
    unexplained: Vec<(f64, Square)>,
    /// The first sample after the reference. It is the same for all programs, because nothing
    /// else is known by then.
    second: Option<Configuration>,
}

/// The content of a model's file; all else follows from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parts {
    /// In order; the last is the reference.
    pub(super) configurations: Vec<Configuration>,
    /// ln of each training program's time over its own at the reference.
    pub(super) shapes: Vec<Vec<f64>>,
    /// The part of ln time that mixtures do not explain.
    pub(super) unexplained: Vec<Unexplained>,
    /// The standard deviation of an execution's ln time.
    pub(super) noise: f64,
    /// Half of a 90 % interval, in spreads.
    pub(super) half_width: f64,
    /// Executions at different configurations before a decision.
    pub(super) samples: usize,
    /// The least threads of any sample.
    pub(super) least: u32,
    pub(super) rule: Rule,
}

/// The part of some programs' ln time that mixtures do not explain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Unexplained {
    /// Its standard deviation, on average over configurations.
    pub(super) spread: f64,
    /// The part of all programs, from 0 to 1.
    pub(super) share: f64,
}

/// The most samples. With more samples a search would be as quick, and each step computes all of their
/// matrices again.
pub(super) const MOST_SAMPLES: usize = 16;

impl TryFrom<Parts> for Mixture {
    type Error = &'static str;

    /// Checks the parts, because a file may hold anything.
    fn try_from(parts: Parts) -> std::result::Result<Mixture, &'static str> {
        let columns = parts.configurations.len();
        let figures = [parts.noise, parts.half_width, parts.rule.worth];
        let cases = parts.unexplained.iter().flat_map(|one| [one.spread, one.share]);
        let shares: f64 = parts.unexplained.iter().map(|one| one.share).sum();
        let relative = |shape: &Vec<f64>| {
            shape.len() == columns
                && shape.iter().all(|log| log.abs() < MOST_LOG)
                && shape.last() == Some(&0.0)
        };
        let sound = columns >= 2
            && parts.configurations.is_sorted_by(|a, b| a < b)
            && parts.shapes.iter().all(relative)
            && figures.into_iter().chain(cases).all(|it| it.is_finite() && it > 0.0)
            && (shares - 1.0).abs() < 1e-6
            && (1..=MOST_SAMPLES).contains(&parts.samples);
        if !sound {
            return Err("a mixture's parts do not fit together");
        }
        let guesses = guesses(&parts.configurations, &parts.shapes);
        let pattern = unexplained(&parts.configurations);
        let of = |&Unexplained { spread, share }: &Unexplained| {
            let mut covariance = pattern.clone();
            covariance.scale(spread * spread);
            (share, covariance)
        };
        let unexplained = parts.unexplained.iter().map(of).collect();
        let mut mixture = Mixture { parts, guesses, unexplained, second: None };
        mixture.second = mixture.after(&[]).and_then(|posterior| {
            let narrowing = |column| posterior.narrowing(column, mixture.parts.noise);
            mixture.promising(|_| false, narrowing).map(|(on, _)| on)
        });
        Ok(mixture)
    }
}

/// The largest logarithm of a ratio of times: e to this power is still a finite number.
const MOST_LOG: f64 = 100.0;

impl From<Mixture> for Parts {
    fn from(mixture: Mixture) -> Parts {
        mixture.parts
    }
}

/// The most likely time, and its uncertainty.
struct Prediction<'a> {
    /// By configuration.
    posterior: Posterior<'a>,
    /// Seconds of the sample at the reference.
    seconds: f64,
}

impl Mixture {
    /// Executions at different configurations before a recommendation.
    pub fn samples(&self) -> usize {
        self.parts.samples
    }

    /// The number of guesses that are weighed against a program's samples.
    pub fn guesses(&self) -> usize {
        self.guesses.len()
    }

    /// The standard deviation of ln time that no guess explains, over all programs.
    pub fn unexplained(&self) -> f64 {
        let variance = |one: &Unexplained| one.share * one.spread * one.spread;
        self.parts.unexplained.iter().map(variance).sum::<f64>().sqrt()
    }

    /// The standard deviation of one execution's ln time.
    pub fn noise(&self) -> f64 {
        self.parts.noise
    }

    /// The same model with intervals `factor` times as wide, in logarithms.
    ///
    /// `training::Evaluation::calibration` returns a fitting factor.
    pub fn widened(mut self, factor: f64) -> Mixture {
        self.parts.half_width *= factor;
        self
    }

    fn reference_on(&self) -> Configuration {
        // The constructor has checked that there are at least two.
        self.parts.configurations[self.parts.configurations.len() - 1]
    }

    /// `None` if no prediction can be computed from the samples.
    fn predict(&self, measured: &Measured) -> Result<Option<Prediction<'_>>> {
        let reference = self.reference_on();
        let seconds = feature::at(measured, reference)?.seconds();
        let mut samples = Vec::new();
        for (column, &on) in self.parts.configurations.iter().enumerate() {
            if let Some(sample) = measured.at(on).filter(|_| on != reference) {
                samples.push((column, (sample.seconds() / seconds).ln()));
            }
        }
        Ok(self.after(&samples).map(|posterior| Prediction { posterior, seconds }))
    }

    /// The posterior after samples other than the reference's; see [`Prior::after`].
    fn after(&self, samples: &[(usize, f64)]) -> Option<Posterior<'_>> {
        let (guesses, unexplained) = (&self.guesses, &self.unexplained);
        Prior { guesses, unexplained, noise: self.parts.noise }.after(samples)
    }

    fn forecasts(&self, measured: &Measured, prediction: &Prediction<'_>) -> Vec<Forecast> {
        let Prediction { posterior, seconds } = prediction;
        let forecast = |(column, &on): (usize, &Configuration)| {
            if let Some(sample) = measured.at(on) {
                return Forecast::measured(sample);
            }
            let log = posterior.means[column];
            // Both the next execution and the reference have noise.
            let noise = 2.0 * self.parts.noise * self.parts.noise;
            let half_width =
                self.parts.half_width * (posterior.spread(column).powi(2) + noise).sqrt();
            Forecast {
                configuration: on,
                seconds: seconds * log.exp(),
                low: seconds * (log - half_width).exp(),
                high: seconds * (log + half_width).exp(),
                measured: false,
            }
        };
        self.parts.configurations.iter().enumerate().map(forecast).collect()
    }

    /// The configurations that may be measured next, with the worth of a sample there.
    fn promising(
        &self,
        is_measured: impl Fn(Configuration) -> bool,
        worth: impl Fn(usize) -> f64,
    ) -> Option<(Configuration, f64)> {
        let reference = self.reference_on();
        let open = |(_, on): &(usize, &Configuration)| {
            **on != reference && !is_measured(**on) && on.threads() >= self.parts.least
        };
        let all = self.parts.configurations.iter().enumerate().filter(open);
        all.map(|(column, &on)| (on, worth(column))).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl Predictor for Mixture {
    fn configurations(&self) -> &[Configuration] {
        &self.parts.configurations
    }

    fn step(&self, samples: &[Sample]) -> Result<Step> {
        let measured = Measured::new(samples, &self.parts.configurations)?;
        let reference = self.reference_on();
        let planned = self.parts.samples;
        let sample = |configuration: Configuration, why: &str| {
            let why = format!("sample {} of {planned}: {why}", measured.len() + 1);
            Step::Sample { configuration, events: Vec::new(), why }
        };
        let (Some(_), Some(best)) = (measured.at(reference), measured.best()) else {
            return Ok(sample(reference, "all others are predicted from it"));
        };
        let count = measured.len();
        if let Some(second) = self.second.filter(|_| count == 1 && planned > 1) {
            return Ok(sample(second, "narrows the costs of all others the most"));
        }
        let Some(prediction) = self.predict(&measured)? else {
            let why = format!("best of {count} measured; no prediction fits these times");
            return Ok(step::decide(best, why));
        };
        let posterior = &prediction.posterior;
        let gain =
            |column| posterior.improvement(column, (best.seconds() / prediction.seconds).ln());
        let is_measured = |on| measured.at(on).is_some();
        if count < planned {
            let both = |column| gain(column) + posterior.narrowing(column, self.parts.noise);
            if let Some((next, _)) = self.promising(is_measured, both) {
                return Ok(sample(
                    next,
                    "may be the best, or narrows the costs of all others the most",
                ));
            }
        }
        let verified = count.saturating_sub(planned);
        let next =
            self.promising(is_measured, gain).filter(|&(_, gain)| gain >= self.parts.rule.worth);
        match next {
            Some((next, gain)) if verified < self.parts.rule.executions => {
                let forecasts = self.forecasts(&measured, &prediction);
                let forecast = forecasts.iter().find(|one| one.configuration == next);
                let gain = format!("expected to gain {:.1} %", 1e2 * gain);
                let why = forecast
                    .map_or(gain.clone(), |one| format!("{gain}: {}", verify::compared(one, best)));
                Ok(Step::Verify { configuration: next, why })
            }
            Some(_) => {
                let why = format!("best of {count} measured, {verified} to verify");
                Ok(step::decide(best, why))
            }
            None => {
                let worth = self.parts.rule.worth * 1e2;
                let why =
                    format!("best of {count} measured; no other is expected to gain {worth} %");
                Ok(step::decide(best, why))
            }
        }
    }

    fn forecast(&self, samples: &[Sample]) -> Result<Vec<Forecast>> {
        let measured = Measured::new(samples, &self.parts.configurations)?;
        Ok(match self.predict(&measured)? {
            Some(prediction) => self.forecasts(&measured, &prediction),
            None => step::only_measured(&measured),
        })
    }

    fn reference(&self) -> Option<Configuration> {
        self.parts.configurations.last().copied()
    }

    fn needs_times(&self) -> bool {
        true
    }
}
