//! The team of one execution of a region.

use std::sync::Arc;

use pacman_adapt::EnergyReading;
use pacman_adapt::predict::Configuration;
use pacman_core::Place;

use super::team_affinity::TeamAffinity;

/// The team of one execution.
#[derive(Default)]
pub(crate) struct TeamChoice {
    /// The number of threads for the real entry; 0 leaves it to the runtime.
    pub(crate) threads: u32,
    /// Where the members run, if the choice binds them.
    pub(crate) places: Option<Arc<[Place]>>,
    /// The affinities of the team, if members are spread now or may be later.
    pub(crate) affinity: Option<Arc<TeamAffinity>>,
    /// Whether to add up the time that members are busy.
    pub(crate) wants_busy: bool,
    /// Whether to measure how long members only wait. It takes some calls of the kernel, so not every
    /// execution is measured.
    pub(crate) measures_waits: bool,
    /// The configuration to learn about; `None` to learn nothing.
    pub(crate) on: Option<Configuration>,
    /// The energy counters before the execution.
    pub(crate) joules: Option<EnergyReading>,
}

impl TeamChoice {
    /// A team of `threads`, of which the controller learns nothing; 0 leaves the number to the runtime.
    pub(crate) fn of(threads: u32) -> TeamChoice {
        TeamChoice { threads, ..TeamChoice::default() }
    }

    /// Whether the controller learns from the execution.
    pub(crate) fn teaches(&self) -> bool {
        self.on.is_some()
    }
}
