//! What the commands ask of the machine they run on, behind a seam for tests.

use std::path::Path;

use pacman_core::backend::perf::Standing;
use pacman_core::event::machine;
use pacman_core::sim;
use pacman_events::{CpuId, SysfsPmu};

/// The machine a command runs on.
pub(crate) trait Machine {
    /// What CPUID says of the CPU that runs this; `None` where there is no CPUID.
    fn cpu_id(&self) -> Option<CpuId>;

    /// The PMUs described below a directory; those that cannot be read are left out.
    fn pmus(&self, devices: &Path) -> Vec<SysfsPmu> {
        machine::pmus(devices)
    }

    /// How counting stands there: siblings, the watchdog; of the simulated machine where there is
    /// one.
    fn standing(&self) -> Standing {
        match sim::current() {
            Ok(Some(simulated)) => simulated.standing(),
            _ => Standing::read(),
        }
    }
}

/// This machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here;

impl Machine for Here {
    fn cpu_id(&self) -> Option<CpuId> {
        machine::cpu_id()
    }
}
