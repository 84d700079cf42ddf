//! The counts that a metric takes, and the one rule for those that are not plain numbers.

/// A count of one sample, or of the sum of several.
///
/// A metric of an estimate is an estimate. A sum that lacks a part gives no metric, as if it were absent: its
/// quotient with a whole sum would compare different work.
///
/// ```
/// use pacman_metrics::language::{Count, named};
///
/// let ipc = named("ipc").expect("it is built in");
/// let counts = [("INSTRUCTIONS", Count::from(300.0).estimated(true)), ("CYCLES", Count::from(200.0))];
/// let of = |name: &str| counts.iter().find(|(known, _)| *known == name).map(|(_, count)| *count);
/// assert!(ipc.figure(of)?.is_estimate);
/// assert!(ipc.figure(|name| Some(of(name)?.lacking_a_part(name == "CYCLES"))).is_err());
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    pub(super) value: f64,
    pub(super) is_estimate: bool,
    pub(super) lacks_a_part: bool,
}

/// The value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// It is finite and at least 0.
    pub value: f64,
    /// One of the counts is an estimate.
    pub is_estimate: bool,
}

impl Count {
    /// The same count, which is also an estimate if `is_estimate`.
    pub fn estimated(self, is_estimate: bool) -> Count {
        Count { is_estimate: self.is_estimate || is_estimate, ..self }
    }

    /// The same count, as a sum that lacks a part if `lacks`.
    pub fn lacking_a_part(self, lacks: bool) -> Count {
        Count { lacks_a_part: self.lacks_a_part || lacks, ..self }
    }
}

/// A quotient or a mean of counts.
impl From<f64> for Count {
    fn from(value: f64) -> Count {
        Count { value, is_estimate: false, lacks_a_part: false }
    }
}

impl From<u64> for Count {
    fn from(count: u64) -> Count {
        Count::from(count as f64)
    }
}

impl From<u128> for Count {
    fn from(count: u128) -> Count {
        Count::from(count as f64)
    }
}
