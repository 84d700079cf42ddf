//! The source of readings: the only difference between the methods.

use std::fmt::Debug;
use std::time::Instant;

use pacman_core::topology::Core;
use pacman_metrics::smt::{Method, Split};

use crate::error::CliResult;

/// Something that can be read again and again.
pub(super) trait Source {
    type Reading: Reading;

    /// Reads all contexts now, or says in a line why that cannot be done any more.
    fn read(&mut self) -> CliResult<Self::Reading>;

    /// The basis of the figures.
    fn basis(&self) -> Basis;
}

/// The state of all contexts at about one moment.
pub(super) trait Reading: Clone + Debug {
    /// That moment.
    fn at(&self) -> Instant;

    /// The activity of `core` from this reading to a later one. `None`, with a note, if that cannot
    /// be told.
    fn until(&self, later: &Self, core: &Core, notes: &mut Vec<String>) -> Option<Done>;
}

/// One core's activity.
#[derive(Clone, Debug)]
pub(super) struct Done {
    /// The part of the time that each context was active, alone or not.
    pub(super) active: Vec<f64>,
    /// In the source's own unit of time.
    pub(super) split: Split,
}

/// The basis of a report's figures.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    /// The file or the event that they are from.
    pub(super) source: String,
    /// The method that evaluates it.
    pub(super) method: Method,
    /// The step in which it counts, in seconds.
    pub(super) step: f64,
    /// The machine, if it is a simulated one.
    pub(super) simulated: Option<&'static str>,
    /// The reason for this method, if the user did not choose it.
    pub(super) choice: Option<String>,
}

impl Basis {
    /// Whether a PMU counted the time.
    pub(super) fn is_counted(&self) -> bool {
        !matches!(self.method, Method::IdleTimes | Method::IdlePeriods | Method::AloneShares)
    }
}
