//! The energy of the packages from the start of the program to its end.

use serde::{Deserialize, Serialize};

/// The energy of all packages during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnergy {
    /// Joules of all packages.
    pub joules: f64,
    /// Seconds of the run.
    pub seconds: f64,
    /// `powercap` or `perf`.
    pub source: String,
    /// The number of packages.
    pub packages: usize,
}
