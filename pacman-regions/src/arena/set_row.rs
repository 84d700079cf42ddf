//! The counts of one event set, if sets take turns.

use std::sync::atomic::AtomicU64;

use super::cell::{add, load, store, zero};
use super::cells::EVENTS;

/// The counts of a thread in one region, under one number in the team, while one set was on the counters.
///
/// One thread at a time writes a row.
#[derive(Debug)]
#[repr(C)]
pub struct SetRow {
    header: AtomicU64,
    /// The region. The upper half has the thread's number in the team.
    pub(super) key: AtomicU64,
    /// The number of the set.
    pub(super) set: AtomicU64,
    /// The executions that were counted.
    pub(super) counted: AtomicU64,
    /// One sum for each event of the set.
    pub(super) counts: [AtomicU64; EVENTS],
}

impl SetRow {
    /// A record outside of any arena.
    pub const fn unrecorded() -> SetRow {
        SetRow {
            header: zero(),
            key: zero(),
            set: zero(),
            counted: zero(),
            counts: [const { zero() }; EVENTS],
        }
    }

    /// Sets the region, the thread's number and the set.
    pub fn set_key(&self, region: u32, thread: u32, set: u32) {
        store(&self.key, u64::from(region) | u64::from(thread) << 32);
        store(&self.set, u64::from(set));
    }

    /// The region, the thread's number and the set.
    pub fn key(&self) -> (u32, u32, u32) {
        let key = load(&self.key);
        (key as u32, (key >> 32) as u32, load(&self.set) as u32)
    }

    /// Adds the counts of an execution. `add_to` adds one count for each event, or answers false.
    pub fn count(&self, add_to: impl FnOnce(&[AtomicU64; EVENTS]) -> bool) {
        if add_to(&self.counts) {
            add(&self.counted, 1);
        }
    }
}
