//! The predictor of the 2006 paper: IPC by multiple linear regression on event rates.
//!
//! Curtis-Maury, Dzierwa, Antonopoulos and Nikolopoulos (ICS 2006), as the PACMAN abstract's
//! section 3 sums it up: counters are collected in a phase's first two executions on all
//! contexts; coefficients from a training set turn event rates into the IPC of every other
//! configuration.

use pacman_events::few;
use serde::{Deserialize, Serialize};

use super::Configuration;
use super::feature::{self, INSTRUCTIONS, Target};
use super::sample::{Measured, Sample};
use super::step::{Forecast, Predictor, Step};
use super::verify::Rule;
use pacman_events::Result;

/// Predicts from events alone, all sampled with all contexts active.
///
/// `training::linear` makes it. With target time, which needs no cycle counts, rates are per
/// second, and instructions per second replace IPC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    pub(super) target: Target,
    /// Sorted configurations; the last is the reference.
    pub(super) configurations: Vec<Configuration>,
    /// The events of each execution at the reference. Each also counts instructions and, with
    /// target IPC, cycles.
    pub(super) event_sets: Vec<Vec<String>>,
    /// Mean and deviation of each rate in training, in order of `rates()`.
    pub(super) standards: Vec<(f64, f64)>,
    pub(super) programs: usize,
    /// The inverse of the normal matrix, from which the leverage follows.
    pub(super) inverse: Vec<Vec<f64>>,
    /// Half of a 90 % interval, in spreads.
    pub(super) half_width: f64,
    pub(super) regressions: Vec<Regression>,
    pub(super) rule: Rule,
}

/// The regression of one configuration's work rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Regression {
    pub(super) configuration: Configuration,
    pub(super) intercept: f64,
    pub(super) slopes: Vec<f64>,
    /// Root mean square of left-out residuals, as at leverage 0.
    pub(super) spread: f64,
}

impl Linear {
    /// The events of each execution at the reference.
    pub fn event_sets(&self) -> &[Vec<String>] {
        &self.event_sets
    }

    /// The target of the prediction.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The counts that it needs of its samples.
    pub(super) fn counts(&self) -> Vec<String> {
        let always = std::iter::once(INSTRUCTIONS).chain(self.target.events().iter().copied());
        let mut counts: Vec<String> = always.map(str::to_owned).collect();
        counts.extend(self.event_sets.iter().flatten().cloned());
        few::sort(&mut counts);
        counts.dedup();
        counts
    }

    fn sampled(&self, measured: &Measured) -> Option<usize> {
        let sample = self.reference().and_then(|on| measured.at(on));
        let has = |set: &&Vec<String>| {
            let mut events = set.iter().map(String::as_str).chain([INSTRUCTIONS]);
            sample.is_some_and(|sample| events.all(|event| sample.count(event).is_some()))
        };
        let complete = self.event_sets.iter().take_while(has).count();
        (complete < self.event_sets.len()).then_some(complete)
    }

    fn predict(&self, measured: &Measured) -> Result<Vec<Forecast>> {
        let Some(reference) = self.reference() else { return Ok(Vec::new()) };
        let sample = feature::at(measured, reference)?;
        let inputs: Vec<f64> = rates(sample, self.event_sets.iter().flatten(), self.target)?
            .iter()
            .zip(&self.standards)
            .map(|(rate, (mean, deviation))| (rate - mean) / deviation)
            .collect();
        let row = |row: &Vec<f64>| row.iter().zip(&inputs).map(|(a, x)| a * x).sum::<f64>();
        let spread: f64 = self.inverse.iter().zip(&inputs).map(|(a, x)| x * row(a)).sum();
        let leverage = 1.0 / self.programs as f64 + spread;
        let work = self.target.work(sample)?;
        let mut forecasts: Vec<Forecast> = measured.iter().map(Forecast::measured).collect();
        for regression in
            self.regressions.iter().filter(|one| measured.at(one.configuration).is_none())
        {
            let rate = regression.intercept
                + regression.slopes.iter().zip(&inputs).map(|(b, x)| b * x).sum::<f64>();
            let half_width = self.half_width * regression.spread * (1.0 + leverage).sqrt();
            // A regression knows no bounds. A rate at or below 0 has no time: no prediction.
            if rate > 0.0 {
                let time = |rate: f64| {
                    if rate > 0.0 { sample.seconds() * work / rate } else { f64::INFINITY }
                };
                forecasts.push(Forecast {
                    configuration: regression.configuration,
                    seconds: time(rate),
                    low: time(rate + half_width),
                    high: time(rate - half_width),
                    measured: false,
                });
            }
        }
        few::sort_by_key(&mut forecasts, |forecast| forecast.configuration);
        Ok(forecasts)
    }

    /// Whether the parts fit together: a file may hold anything.
    pub(super) fn is_sound(&self) -> bool {
        let width = self.standards.len();
        let events: usize = self.event_sets.iter().map(Vec::len).sum();
        self.configurations.is_sorted_by(|a, b| a < b)
            && !self.event_sets.is_empty()
            && width == events + 1
            && self.standards.iter().all(|(_, deviation)| *deviation > 0.0)
            && self.inverse.len() == width
            && self.inverse.iter().all(|row| row.len() == width)
            && self.programs > 0
            && self.regressions.iter().all(|regression| {
                self.configurations.contains(&regression.configuration)
                    && regression.slopes.len() == width
                    && regression.spread >= 0.0
            })
    }
}

impl Predictor for Linear {
    fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }

    fn step(&self, samples: &[Sample]) -> Result<Step> {
        let measured = Measured::new(samples, &self.configurations)?;
        if let (Some(set), Some(reference)) = (self.sampled(&measured), self.reference()) {
            let events = self.event_sets[set].iter().map(String::as_str);
            let mut events: Vec<&str> =
                events.chain([INSTRUCTIONS]).chain(self.target.events().iter().copied()).collect();
            few::sort(&mut events);
            events.dedup();
            return Ok(Step::Sample {
                configuration: reference,
                events: events.into_iter().map(str::to_owned).collect(),
                why: format!("event set {} of {}, all contexts", set + 1, self.event_sets.len()),
            });
        }
        self.rule.settle(&self.predict(&measured)?, &measured, 1)
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

/// The work rate at the reference, then the rate of each event, per elapsed cycle or second.
pub(super) fn rates<'a>(
    sample: &Sample,
    events: impl Iterator<Item = &'a String>,
    target: Target,
) -> Result<Vec<f64>> {
    let elapsed = target.elapsed(sample)?;
    let mut rates = vec![target.work(sample)?];
    for event in events {
        rates.push(feature::needed(sample, event)? / elapsed);
    }
    Ok(rates)
}
