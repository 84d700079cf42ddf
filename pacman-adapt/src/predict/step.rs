//! The questions every predictor answers: what next, and how long would it take?

use std::fmt;
use std::sync::Arc;

use super::Configuration;
use super::sample::{Measured, Sample};
use crate::error::{Error, ErrorKind, Result};

/// Chooses configurations from what was measured so far.
///
/// A predictor keeps no state: the same samples get the same answer, so a controller may
/// drop old samples when a phase drifts, and start over by passing none.
pub trait Predictor: fmt::Debug + Send + Sync {
    /// The candidates, in order.
    fn configurations(&self) -> &[Configuration];

    /// The step for the next execution.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::ErrorKind::InvalidInput) for a sample at a configuration that
    /// is no candidate, or without a count that the predictor needs.
    fn step(&self, samples: &[Sample]) -> Result<Step>;

    /// Times by configuration, in order: what was measured, and what can be predicted from it.
    ///
    /// # Errors
    /// As [`step`](Predictor::step).
    fn forecast(&self, samples: &[Sample]) -> Result<Vec<Forecast>>;

    /// The configuration whose sample predictions start from; none if any will do, as in a search.
    ///
    /// An [`Adapter`](crate::Adapter) refuses a predictor whose reference is not its default.
    fn reference(&self) -> Option<Configuration> {
        None
    }

    /// Whether samples must be times: no energy, no product, nothing else that costs.
    fn needs_times(&self) -> bool {
        false
    }

    /// The counts without which it predicts nothing; empty if what an execution costs is enough.
    ///
    /// An [`Adapter`](crate::Adapter) refuses a predictor that needs any: it measures none.
    fn needs_counts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Refuses a predictor, or a model, that needs `counts` where there are none.
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

/// The step for the next execution of a phase, and one line why.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Run there, count `events` (none: the time is enough), and ask again.
    Sample {
        /// Where to run.
        configuration: Configuration,
        /// The counts that the sample must have.
        events: Vec<String>,
        /// One line.
        why: String,
    },
    /// Run there and ask again: it is predicted to be the best.
    Verify {
        /// Where to run.
        configuration: Configuration,
        /// One line.
        why: String,
    },
    /// Stay there.
    Decide {
        /// Where to run from now on.
        configuration: Configuration,
        /// One line.
        why: String,
    },
}

impl Step {
    /// Where to run.
    pub fn configuration(&self) -> Configuration {
        match self {
            Step::Sample { configuration, .. }
            | Step::Verify { configuration, .. }
            | Step::Decide { configuration, .. } => *configuration,
        }
    }

    /// One line why.
    pub fn why(&self) -> &str {
        match self {
            Step::Sample { why, .. } | Step::Verify { why, .. } | Step::Decide { why, .. } => why,
        }
    }
}

/// The time of an execution at a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Where.
    pub configuration: Configuration,
    /// Seconds, measured or predicted.
    pub seconds: f64,
    /// The lower end of the 90 % prediction interval; `seconds` where measured.
    pub low: f64,
    /// The upper end; infinite where the model has no bound, `seconds` where measured.
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

/// The step of predictors without a model, from the measurements.
pub(super) fn only_measured(measured: &Measured) -> Vec<Forecast> {
    measured.iter().map(Forecast::measured).collect()
}

pub(super) fn decide(best: &Sample, why: String) -> Step {
    Step::Decide { configuration: best.configuration(), why }
}
