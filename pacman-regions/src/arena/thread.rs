//! The record of a thread that starts regions, with its executions that are not timed.
//!
//! One thread at a time writes a record, with plain loads and stores.

use std::sync::atomic::AtomicU64;

use super::cell::{add, load, store, zeroed};
use super::format::LINE;

/// A thread that starts regions. When it ends, another thread takes the record over with what it counted.
#[derive(Debug)]
#[repr(C)]
pub struct Thread {
    header: AtomicU64,
    pub(super) open_regions: AtomicU64,
    /// The number among the process's records of threads.
    pub(super) number: AtomicU64,
    line: [AtomicU64; LINE - 3],
    pub(super) untimed: [Untimed; COUNTDOWNS],
}

/// The number of countdowns of a thread.
pub const COUNTDOWNS: usize = 64;

/// The executions of one region whose threads were not timed: their number and their times, on a cache line.
#[derive(Debug)]
#[repr(C)]
pub struct Untimed {
    /// One more than the region; 0 for a free place.
    pub(super) region: AtomicU64,
    pub(super) executions: AtomicU64,
    /// The exact sum of their times.
    pub(super) ticks: AtomicU64,
    pub(super) shortest: AtomicU64,
    pub(super) longest: AtomicU64,
    /// The executions that were so long that no timed one stands for them, and their times.
    pub(super) unlike: AtomicU64,
    pub(super) unlike_ticks: AtomicU64,
    line: AtomicU64,
}

impl Untimed {
    /// The region.
    pub fn region(&self) -> Option<u32> {
        load(&self.region).checked_sub(1).map(|region| region as u32)
    }

    /// The executions.
    #[inline(always)]
    pub fn executions(&self) -> u64 {
        load(&self.executions)
    }

    /// The ticks of all executions.
    pub fn ticks(&self) -> u64 {
        load(&self.ticks)
    }

    /// The executions that no timed one stands for, and their ticks.
    pub fn unlike(&self) -> (u64, u64) {
        (load(&self.unlike), load(&self.unlike_ticks))
    }

    /// The ticks of the shortest execution; 0 before the first.
    pub fn shortest(&self) -> u64 {
        load(&self.shortest)
    }

    /// Adds an execution that has ended.
    #[inline(always)]
    pub fn add(&self, ticks: u64) {
        add(&self.ticks, ticks);
        // The process may end between any two stores: the number of executions is one store.
        add(&self.executions, 1);
    }

    /// An execution that was added was shorter or longer than those before, or no timed one stands for it.
    pub fn note(&self, ticks: u64, is_unlike: bool) {
        let shortest = load(&self.shortest);
        if shortest == 0 || ticks < shortest {
            store(&self.shortest, ticks.max(1));
        }
        store(&self.longest, load(&self.longest).max(ticks));
        if is_unlike {
            add(&self.unlike_ticks, ticks);
            add(&self.unlike, 1);
        }
    }
}

impl Thread {
    /// A record outside of any arena.
    pub const fn unrecorded() -> Thread {
        zeroed()
    }

    /// The executions that are not timed, by place.
    #[inline(always)]
    pub fn untimed(&self) -> &[Untimed; COUNTDOWNS] {
        &self.untimed
    }

    /// Whether a region has a place, or can have one.
    pub fn has_place(&self, region: u32) -> bool {
        let key = u64::from(region) + 1;
        self.untimed.iter().any(|own| [0, key].contains(&load(&own.region)))
    }

    /// The place of a region, which may be new. `None` if other regions have all places.
    pub fn place(&self, region: u32) -> Option<usize> {
        let key = u64::from(region) + 1;
        let place = self.untimed.iter().position(|own| [0, key].contains(&load(&own.region)))?;
        store(&self.untimed[place].region, key);
        Some(place)
    }

    /// The number among the process's records of threads.
    pub fn number(&self) -> u32 {
        load(&self.number) as u32
    }

    /// Sets that number.
    pub fn set_number(&self, number: u32) {
        store(&self.number, number.into());
    }

    /// The regions that the thread started and that are not in the rows yet.
    #[inline(always)]
    pub fn open_regions(&self) -> u64 {
        load(&self.open_regions)
    }

    /// Sets the number of open regions.
    #[inline(always)]
    pub fn set_open_regions(&self, regions: u64) {
        store(&self.open_regions, regions);
    }
}
