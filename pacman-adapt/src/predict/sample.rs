//! The measurements of one execution.

use std::collections::BTreeMap;

use super::Configuration;
use pacman_events::{Error, ErrorKind, Result};

/// One execution of a phase: its configuration, its time and its event counts.
///
/// Counts are sums over all threads, siblings included. An event that was not counted is
/// absent; it is never 0.
///
/// ```
/// use pacman_adapt::predict::Sample;
/// let sample = Sample::new("24".parse()?, 0.42)?
///     .with("instructions", 8.1e9)?
///     .with("llc_misses", 2.0e6)?;
/// assert_eq!(sample.count("llc_misses"), Some(2.0e6));
/// assert_eq!(sample.count("branches"), None);
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    configuration: Configuration,
    seconds: f64,
    counts: BTreeMap<String, f64>,
}

impl Sample {
    /// An execution that took `seconds`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] unless `seconds` is finite and above 0.
    pub fn new(configuration: Configuration, seconds: f64) -> Result<Sample> {
        if !(seconds.is_finite() && seconds > 0.0) {
            let why = format!("execution time must be positive, got {seconds} s");
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        Ok(Sample { configuration, seconds, counts: BTreeMap::new() })
    }

    /// The same with the count of an event.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] unless `count` is finite and not negative.
    pub fn with(mut self, event: impl Into<String>, count: f64) -> Result<Sample> {
        let event = event.into();
        if !(count.is_finite() && count >= 0.0) {
            let why = format!("the count of {event} must be 0 or above, got {count}");
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        self.counts.insert(event, count);
        Ok(self)
    }

    /// The configuration of the execution.
    pub fn configuration(&self) -> Configuration {
        self.configuration
    }

    /// The time of the execution, in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The count of an event, if it was counted.
    pub fn count(&self, event: &str) -> Option<f64> {
        self.counts.get(event).copied()
    }

    /// All counts by event.
    pub fn counts(&self) -> impl Iterator<Item = (&str, f64)> {
        self.counts.iter().map(|(event, count)| (event.as_str(), *count))
    }
}

/// Samples by configuration, those of one configuration averaged.
///
/// Executions at one configuration may have counted different events: each event's mean is
/// over those that counted it, so two event sets become one sample.
pub(super) struct Measured(BTreeMap<Configuration, Sample>);

impl Measured {
    /// Refuses samples at a configuration that is not among `known`.
    pub(super) fn new(samples: &[Sample], known: &[Configuration]) -> Result<Measured> {
        let mut groups: BTreeMap<Configuration, Vec<&Sample>> = BTreeMap::new();
        for sample in samples {
            if !known.contains(&sample.configuration) {
                return Err(unknown(sample.configuration, known));
            }
            groups.entry(sample.configuration).or_default().push(sample);
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let merged = groups.into_iter().map(|(configuration, group)| {
            let mut counts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for (event, count) in group.iter().flat_map(|sample| sample.counts()) {
                counts.entry(event.to_owned()).or_default().push(count);
            }
            let seconds: Vec<f64> = group.iter().map(|sample| sample.seconds).collect();
            let counts = counts.into_iter().map(|(event, all)| (event, mean(&all))).collect();
            (configuration, Sample { configuration, seconds: mean(&seconds), counts })
        });
        Ok(Measured(merged.collect()))
    }

    pub(super) fn at(&self, configuration: Configuration) -> Option<&Sample> {
        self.0.get(&configuration)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Sample> {
        self.0.values()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The quickest, and of equals the one with the fewest threads.
    pub(super) fn best(&self) -> Option<&Sample> {
        self.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }
}

#[cold]
fn unknown(configuration: Configuration, known: &[Configuration]) -> Error {
    let names: Vec<String> = known.iter().map(ToString::to_string).collect();
    let why = format!(
        "a sample at {configuration}: this machine's configurations are {}",
        names.join(", ")
    );
    Error::new(ErrorKind::InvalidInput, why)
}
