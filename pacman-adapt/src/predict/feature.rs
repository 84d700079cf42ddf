//! The inputs of models, and their targets.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Configuration;
use super::sample::{Measured, Sample};
use pacman_events::{Error, ErrorKind, Result};

/// The instructions retired by all threads, to which other counts are set in proportion.
pub(super) const INSTRUCTIONS: &str = "instructions";

/// The core clock cycles of all threads, while they were active.
pub(super) const CYCLES: &str = "cycles";

/// A model's target; both give times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Seconds.
    Time,
    /// Instructions per elapsed cycle, summed over threads; times follow in inverse
    /// proportion, for the same work at the same clock.
    Ipc,
}

impl Target {
    /// The cost of one execution: seconds, or elapsed cycles for an instruction of any thread.
    pub(super) fn cost(self, sample: &Sample) -> Result<f64> {
        match self {
            Target::Time => Ok(sample.seconds()),
            Target::Ipc => Ok(self.work(sample)?.recip()),
        }
    }

    /// The divisor that makes event counts rates: elapsed cycles or seconds.
    pub(super) fn elapsed(self, sample: &Sample) -> Result<f64> {
        match self {
            Target::Time => Ok(sample.seconds()),
            Target::Ipc => {
                Ok(positive(sample, CYCLES)? / f64::from(sample.configuration().threads()))
            }
        }
    }

    /// The instructions of all threads per elapsed cycle or second. Unlike the metric `ipc`, the divisor is not the sum
    /// of the threads' cycles.
    pub(super) fn work(self, sample: &Sample) -> Result<f64> {
        Ok(positive(sample, INSTRUCTIONS)? / self.elapsed(sample)?)
    }

    /// The counts without which no sample has a cost.
    pub(super) fn events(self) -> &'static [&'static str] {
        match self {
            Target::Time => &[],
            Target::Ipc => &[INSTRUCTIONS, CYCLES],
        }
    }

    /// Whether predictions are times, and need times to start from.
    pub(super) fn gives_times(self) -> bool {
        match self {
            Target::Time | Target::Ipc => true,
        }
    }

    /// The unit of the prediction.
    pub fn unit(self) -> &'static str {
        match self {
            Target::Time => "s",
            Target::Ipc => "instructions/cycle",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Target::Time => "time",
            Target::Ipc => "ipc",
        })
    }
}

/// One number that a model is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Feature {
    /// ln of the cost at this configuration over the cost at the reference.
    Ratio(Configuration),
    /// ln of an event's count per instruction at the reference; a count of 0 is taken as one half.
    PerInstruction(String),
    /// ln of instructions per second, or per cycle, at the reference.
    Speed,
    /// An event's count at the reference per thread and elapsed second, or cycle.
    Rate(String),
    /// The product of two such rates, because the effects of two causes of waiting do not add up.
    Product(String, String),
}

impl Feature {
    pub(super) fn value(
        &self,
        measured: &Measured,
        reference: Configuration,
        target: Target,
    ) -> Result<f64> {
        let at_reference = at(measured, reference)?;
        Ok(match self {
            Feature::Ratio(configuration) => {
                let cost = target.cost(at(measured, *configuration)?)?;
                (cost / target.cost(at_reference)?).ln()
            }
            Feature::PerInstruction(event) => {
                let count = needed(at_reference, event)?.max(0.5);
                (count / positive(at_reference, INSTRUCTIONS)?).ln()
            }
            Feature::Speed => target.work(at_reference)?.ln(),
            Feature::Rate(event) => rate(at_reference, event, target)?,
            Feature::Product(one, other) => {
                rate(at_reference, one, target)? * rate(at_reference, other, target)?
            }
        })
    }

    /// The counts that it needs at the reference.
    pub(super) fn events(&self) -> Vec<&str> {
        match self {
            Feature::Ratio(_) => Vec::new(),
            Feature::PerInstruction(event) => vec![INSTRUCTIONS, event],
            Feature::Speed => vec![INSTRUCTIONS],
            Feature::Rate(event) => vec![event],
            Feature::Product(one, other) => vec![one, other],
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Feature::Ratio(configuration) => write!(f, "ratio at {configuration}"),
            Feature::PerInstruction(event) => write!(f, "{event} per instruction"),
            Feature::Speed => f.write_str("instruction rate"),
            Feature::Rate(event) => write!(f, "rate of {event}"),
            Feature::Product(one, other) => write!(f, "rates of {one} and {other}"),
        }
    }
}

/// Events per thread and elapsed second or cycle.
fn rate(sample: &Sample, event: &str, target: Target) -> Result<f64> {
    let threads = f64::from(sample.configuration().threads());
    Ok(needed(sample, event)? / (threads * target.elapsed(sample)?))
}

/// The sample that a model has to have at a configuration.
pub(super) fn at(measured: &Measured, configuration: Configuration) -> Result<&Sample> {
    measured.at(configuration).ok_or_else(|| {
        let why =
            format!("a prediction needs a sample at {configuration} first, and there is none");
        Error::new(ErrorKind::InvalidInput, why)
    })
}

/// A count that a model was trained with and therefore needs.
pub(super) fn needed(sample: &Sample, event: &str) -> Result<f64> {
    sample.count(event).ok_or_else(|| {
        let on = sample.configuration();
        let why = format!("the sample at {on} has no count of {event}, which the model needs");
        Error::new(ErrorKind::InvalidInput, why)
    })
}

/// A count that something is divided by.
pub(super) fn positive(sample: &Sample, event: &str) -> Result<f64> {
    let count = needed(sample, event)?;
    if count > 0.0 {
        return Ok(count);
    }
    let on = sample.configuration();
    let why = format!("the sample at {on} counted no {event}, so nothing is in proportion to them");
    Err(Error::new(ErrorKind::InvalidInput, why))
}
