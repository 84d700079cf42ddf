//! The time stamp counter of the machine that is counted. This machine's counter would not fit the
//! counts of a simulated machine.

use pacman_core::platform::PlatformRef;
use pacman_metrics::smt::{Clocks, Crystal};

/// Where TSC ticks come from: a machine that has one.
#[derive(Clone, Debug)]
pub(super) struct Tsc {
    platform: PlatformRef,
    hz: f64,
}

impl Tsc {
    /// The TSC of `platform`, if it has one.
    pub(super) fn of(platform: &PlatformRef) -> Option<Tsc> {
        Some(Tsc { platform: platform.clone(), hz: platform.tsc_hz()? })
    }

    /// Its ticks now.
    pub(super) fn now(&self) -> u64 {
        self.platform.tsc().expect("a processor keeps its TSC")
    }

    /// The clocks that counts are scaled by.
    pub(super) fn clocks(&self) -> Clocks {
        let crystal = self.platform.crystal();
        let crystal = crystal.map(|(numerator, denominator)| Crystal { numerator, denominator });
        Clocks { base_hz: self.hz, crystal }
    }

    /// The name of the machine, if it is a simulated one.
    pub(super) fn simulated(&self) -> Option<&'static str> {
        self.platform.simulation().map(|label| label.name)
    }
}
