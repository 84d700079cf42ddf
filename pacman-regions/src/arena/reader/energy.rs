//! The decoded form of energy.

use super::sorted::Sorted;
use crate::{ProcessEnergy, RegionEnergy};

impl Sorted<'_> {
    /// The energy of the process; `None` if it was not read.
    pub(super) fn process_energy(&self, scale: f64) -> Option<ProcessEnergy> {
        let (source, packages, wraps_after) = self.energy_source.as_ref()?;
        let sum = self.energies.get(&0)?;
        Some(ProcessEnergy {
            joules: sum.joules(),
            seconds: sum.ticks as f64 * scale,
            source: source.clone(),
            packages: *packages,
            wraps_after: *wraps_after as f64 * 1e-9,
            longest_gap: sum.longest_gap as f64 * scale,
        })
    }

    /// The energy of a region; `None` if none of its executions was to have any.
    pub(super) fn region_energy(&self, region: u32, scale: f64) -> Option<RegionEnergy> {
        let sum = self.energies.get(&(u64::from(region) + 1))?;
        Some(RegionEnergy {
            joules: sum.joules(),
            seconds: sum.ticks as f64 * scale,
            executions: sum.executions,
            unread: sum.unread,
        })
    }
}
