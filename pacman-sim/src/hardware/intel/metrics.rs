//! `PERF_METRICS`: the slots of fixed counter 3 by top-down category, in 255ths.
//!
//! SDM Vol. 3, "Performance metrics". Four fields on Ice Lake; eight from Sapphire Rapids and
//! Alder Lake's performance cores on, four of which are parts of the first four.

use pacman_events::{CpuModel, resolve};

/// The slots of each field since the register was written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Metrics {
    slots: [u64; FIELDS],
}

impl Metrics {
    /// The register, where fixed counter 3 holds `slots`.
    pub(super) fn value(&self, slots: u64) -> u64 {
        let fraction = |part: u64| match slots {
            0 => 0,
            _ => (u128::from(part) * 255 + u128::from(slots) / 2) / u128::from(slots),
        };
        let fields = self.slots.iter().enumerate();
        fields.map(|(n, part)| (fraction(*part).min(255) as u64) << (8 * n)).sum()
    }

    /// Writes the register, after fixed counter 3 was set to `slots`.
    pub(super) fn set(&mut self, value: u64, slots: u64) {
        for (n, part) in self.slots.iter_mut().enumerate() {
            let fraction = u128::from(value >> (8 * n) & 0xff);
            *part = (u128::from(slots) * fraction / 255) as u64;
        }
    }

    /// Counts slots of a field.
    pub(super) fn add(&mut self, field: usize, slots: u64) {
        self.slots[field] += slots;
    }
}

/// How many fields the register of a model has; 0 for a model without it.
pub(super) fn fields(model: CpuModel) -> usize {
    let has = |name| usize::from(resolve(model, name).is_ok());
    4 * (has("PERF_METRICS.RETIRING") + has("PERF_METRICS.MEMORY_BOUND"))
}

const FIELDS: usize = 8;
