//! The interface of predictors: the next step of a phase, and forecasts of its times.

use std::fmt;
use std::sync::Arc;

use super::Configuration;
use super::sample::{Measured, Sample};
use pacman_events::{Error, ErrorKind, Result};

/// Chooses configurations from the samples so far.
///
/// A predictor keeps no state: the same samples get the same step. So a controller may drop
/// old samples when a phase drifts, and starts over if it passes none.
pub trait Predictor: fmt::Debug + Send + Sync {
    /// The candidates, in order.
    fn configurations(&self) -> &[Configuration];

    /// The step for the next execution.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::ErrorKind::InvalidInput) for a sample at a configuration that is
    /// not a candidate, or for one that lacks a count that the predictor needs.
    fn step(&self, samples: &[Sample]) -> Result<Step>;

    /// Measured times and the times predicted from them, in order of configuration.
    ///
    /// # Errors
    /// As [`step`](Predictor::step).
    fn forecast(&self, samples: &[Sample]) -> Result<Vec<Forecast>>;

    /// The configuration whose sample predictions start from; `None` if they can start anywhere.
    ///
    /// An [`Adapter`](crate::Adapter) refuses a predictor whose reference is not its default.
    fn reference(&self) -> Option<Configuration> {
        None
    }

    /// Whether samples must be times, rather than energy or another cost.
    fn needs_times(&self) -> bool {
        false
    }

    /// The events whose counts the predictor needs; empty if the cost of executions is enough.
    ///
    /// An [`Adapter`](crate::Adapter) measures no counts, and refuses a predictor that needs any.
    fn needs_counts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Refuses a predictor or model that needs `counts`, for users that measure none.
pub(crate) fn without_counts(counts: &[String]) -> Result<()> {
    if counts.is_empty() {
        return Ok(());
    }
    let why = format!(
        "the model needs counts of {}, and adaptation measures times alone: train one with \
         --method ridge --events none",
        counts.join(", ")
    );
    Err(Error::new(ErrorKind::Unsupported, why))
}

impl<P: Predictor + ?Sized> Predictor for Arc<P> {
    fn configurations(&self) -> &[Configuration] {
        (**self).configurations()
    }

    fn step(&self, samples: &[Sample]) -> Result<Step> {
        (**self).step(samples)
    }

    fn forecast(&self, samples: &[Sample]) -> Result<Vec<Forecast>> {
        (**self).forecast(samples)
    }

    fn reference(&self) -> Option<Configuration> {
        (**self).reference()
    }

    fn needs_times(&self) -> bool {
        (**self).needs_times()
    }

    fn needs_counts(&self) -> Vec<String> {
        (**self).needs_counts()
    }
}

/// The step for the next execution of a phase, with the reason in one line.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Run at `configuration`, count `events`, and ask again.
    Sample {
        /// The configuration of the next execution.
        configuration: Configuration,
        /// The events whose counts the sample must have; empty if the time is enough.
        events: Vec<String>,
        /// The reason in one line.
        why: String,
    },
    /// Run at `configuration`, which is predicted to be the best, and ask again.
    Verify {
        /// The configuration of the next execution.
        configuration: Configuration,
        /// The reason in one line.
        why: String,
    },
    /// Stay at `configuration`.
    Decide {
        /// The configuration of all later executions.
        configuration: Configuration,
        /// The reason in one line.
        why: String,
    },
}

impl Step {
    /// The configuration of the next execution.
    pub fn configuration(&self) -> Configuration {
        match self {
            Step::Sample { configuration, .. }
            | Step::Verify { configuration, .. }
            | Step::Decide { configuration, .. } => *configuration,
        }
    }

    /// The reason in one line.
    pub fn why(&self) -> &str {
        match self {
            Step::Sample { why, .. } | Step::Verify { why, .. } | Step::Decide { why, .. } => why,
        }
    }
}

/// The time of an execution at a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The configuration of the execution.
    pub configuration: Configuration,
    /// The time in seconds, measured or predicted.
    pub seconds: f64,
    /// The lower end of the 90 % prediction interval, in seconds; equals `seconds` if measured.
    pub low: f64,
    /// The upper end of the interval, in seconds; equals `seconds` if measured. It is infinite
    /// if the model has no bound.
    pub high: f64,
    /// Whether it was measured rather than predicted.
    pub measured: bool,
}

impl Forecast {
    pub(super) fn measured(sample: &Sample) -> Forecast {
        let seconds = sample.seconds();
        let configuration = sample.configuration();
        Forecast { configuration, seconds, low: seconds, high: seconds, measured: true }
    }
}

/// The forecasts of predictors without a model, which are the measurements.
pub(super) fn only_measured(measured: &Measured) -> Vec<Forecast> {
    measured.iter().map(Forecast::measured).collect()
}

pub(super) fn decide(best: &Sample, why: String) -> Step {
    Step::Decide { configuration: best.configuration(), why }
}
