//! The energy of the packages, from any source.

use std::path::Path;
use std::sync::Arc;

use super::counters::EnergyCounters;
use super::powercap::Powercap;
use super::reading::{EnergyReading, Scale};
use pacman_events::Result;

/// The energy counters of all processor packages (RAPL).
///
/// RAPL counts packages, not threads or processes: a reading includes everything that runs there. The
/// counters move about once a millisecond.
#[derive(Debug)]
pub struct Rapl {
    counters: Box<dyn EnergyCounters>,
    scale: Arc<Scale>,
}

impl Rapl {
    /// The time between two updates of a counter, in seconds.
    pub const UPDATE_S: f64 = 1e-3;

    /// Finds this system's packages in powercap.
    ///
    /// `pacman_core::energy::detect` also finds them where the perf PMU `power` alone counts them.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if powercap has no zone of a
    /// package; [`ErrorKind::Permission`](crate::ErrorKind::Permission) if the process may not read a
    /// counter, as by default only root may; [`ErrorKind::System`](crate::ErrorKind::System) if
    /// reading fails otherwise.
    pub fn detect() -> Result<Rapl> {
        Rapl::under(Path::new("/sys/class/powercap"))
    }

    /// Finds the packages whose zones of powercap lie under `root`.
    ///
    /// # Errors
    /// As [`detect`](Rapl::detect).
    pub fn under(root: &Path) -> Result<Rapl> {
        Ok(Rapl::of(Powercap::under(root)?))
    }

    /// Energy from these counters.
    pub fn of(counters: impl EnergyCounters + 'static) -> Rapl {
        let scale = Scale { unit: counters.unit(), periods: counters.periods() };
        Rapl { counters: Box::new(counters), scale: Arc::new(scale) }
    }

    /// The interface in use: `powercap` or `perf`.
    pub fn source(&self) -> &'static str {
        self.counters.source()
    }

    /// The number of packages.
    pub fn packages(&self) -> usize {
        self.scale.periods.len()
    }

    /// The joules after which the first counter wraps. Two readings with more between them on one
    /// package differ by too little.
    pub fn wraps_after(&self) -> f64 {
        let least = self.scale.periods.iter().min();
        least.map_or(f64::INFINITY, |&period| period as f64 * self.scale.unit)
    }

    /// Reads the energy counters of all packages.
    ///
    /// # Errors
    /// [`ErrorKind::System`](crate::ErrorKind::System) or
    /// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if a counter can no longer be read.
    pub fn read(&self) -> Result<EnergyReading> {
        Ok(EnergyReading::new(self.counters.read()?, self.scale.clone()))
    }
}
