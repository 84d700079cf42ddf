//! Sums of energy over the records of one process.

use std::mem::offset_of;

use super::records::word;
use crate::arena::energy::Energy;

/// The energy of one region, or of the process.
#[derive(Default)]
pub(super) struct EnergySum {
    pub(super) nanojoules: u64,
    pub(super) ticks: u64,
    pub(super) executions: u64,
    pub(super) unread: u64,
    pub(super) longest_gap: u64,
}

impl EnergySum {
    pub(super) fn add(&mut self, record: &[u64]) {
        for (sum, offset) in [
            (&mut self.nanojoules, offset_of!(Energy, nanojoules)),
            (&mut self.ticks, offset_of!(Energy, ticks)),
            (&mut self.executions, offset_of!(Energy, executions)),
            (&mut self.unread, offset_of!(Energy, unread)),
        ] {
            *sum = sum.saturating_add(word(record, offset));
        }
        self.longest_gap = self.longest_gap.max(word(record, offset_of!(Energy, longest_gap)));
    }

    pub(super) fn joules(&self) -> f64 {
        self.nanojoules as f64 * 1e-9
    }
}
