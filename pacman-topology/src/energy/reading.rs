//! Readings of energy counters and the energy between two of them.

use std::sync::Arc;

use pacman_events::{Error, ErrorKind, Result};

/// The meaning of the counts of one source.
#[derive(Debug)]
pub(super) struct Scale {
    /// The joules of one count.
    pub(super) unit: f64,
    /// The counts after which each counter is back where it was.
    pub(super) periods: Vec<u128>,
}

/// The counters of all packages at one moment; see [`Rapl::read`](super::Rapl::read).
#[derive(Clone, Debug)]
pub struct EnergyReading {
    counts: Vec<u64>,
    scale: Arc<Scale>,
}

impl EnergyReading {
    /// `counts` has one count for each of the scale's periods.
    pub(super) fn new(counts: Vec<u64>, scale: Arc<Scale>) -> EnergyReading {
        EnergyReading { counts, scale }
    }

    /// The joules from `earlier` to this reading, if no counter wrapped more than once between them.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if `earlier` is a reading of another [`Rapl`](super::Rapl), whose
    /// counters may be others.
    pub fn joules_since(&self, earlier: &EnergyReading) -> Result<f64> {
        if !Arc::ptr_eq(&self.scale, &earlier.scale) {
            let why = "cannot subtract two energy readings: they are of two Rapl values; take both \
                       from one";
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        let pairs = earlier.counts.iter().zip(&self.counts);
        let used = pairs.zip(&self.scale.periods).map(|((&before, &now), &period)| {
            let (before, now) = (u128::from(before), u128::from(now));
            if now >= before { now - before } else { (period + now).saturating_sub(before) }
        });
        Ok(used.sum::<u128>() as f64 * self.scale.unit)
    }
}
