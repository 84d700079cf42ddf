//! The record of energy.

use std::sync::atomic::AtomicU64;

use super::cell::{add, load, store};

/// The energy of the packages during the process, or during the executions of one region.
///
/// One thread at a time writes.
#[derive(Debug)]
#[repr(C)]
pub struct Energy {
    header: AtomicU64,
    /// One more than the region; 0 for the whole process.
    pub(super) key: AtomicU64,
    pub(super) nanojoules: AtomicU64,
    /// The time between the readings, in ticks.
    pub(super) ticks: AtomicU64,
    pub(super) executions: AtomicU64,
    pub(super) unread: AtomicU64,
    /// The longest time between two readings, in ticks; of the process only.
    pub(super) longest_gap: AtomicU64,
}

impl Energy {
    /// Sets the region of a new record; `None` for the process.
    pub(super) fn set_key(&self, region: Option<u32>) {
        store(&self.key, region.map_or(0, |region| u64::from(region) + 1));
    }

    /// Adds an execution of a region.
    pub fn add(&self, nanojoules: u64, ticks: u64) {
        add(&self.nanojoules, nanojoules);
        add(&self.ticks, ticks);
        add(&self.executions, 1);
    }

    /// Adds an execution of a region without energy.
    pub fn add_unread(&self) {
        add(&self.unread, 1);
    }

    /// Sets the energy of the process up to the latest reading, `ticks` after its start and `gap` ticks
    /// after the reading before.
    pub fn read_at(&self, nanojoules: u64, ticks: u64, gap: u64) {
        store(&self.nanojoules, nanojoules);
        store(&self.ticks, ticks);
        store(&self.longest_gap, load(&self.longest_gap).max(gap));
    }
}
