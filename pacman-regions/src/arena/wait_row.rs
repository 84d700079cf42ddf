//! The record of one thread's waits at one construct.

use std::sync::atomic::AtomicU64;

use super::cell::{add, load, store, zeroed};

/// The waits of a thread in one region at one site, under one number in the team.
///
/// One thread at a time writes a row. A row has a cache line, so that threads share none.
#[derive(Debug)]
#[repr(C)]
pub struct WaitRow {
    header: AtomicU64,
    /// The region, or [`OUTSIDE`](state::OUTSIDE). The upper half has the thread's number in the team.
    pub(super) key: AtomicU64,
    /// The number of the site, or one of those below.
    pub(super) site: AtomicU64,
    pub(super) count: AtomicU64,
    pub(super) ticks: AtomicU64,
    /// The end of the latest wait outside of regions, in ticks since the start of the process.
    pub(super) until: AtomicU64,
    /// Those of the part under way.
    pub(super) open_count: AtomicU64,
    pub(super) open_ticks: AtomicU64,
}

/// Numbers of rows that belong to no construct.
pub mod state {
    use crate::arena::cells::EVENTS;

    /// From the start of the region to the start of the thread's part.
    pub const STARTING: u32 = 0;
    /// Tasks that the thread ran after its part.
    pub const LATE_TASKS: u32 = 1;
    /// Waits without an end.
    pub const DROPPED: u32 = 2;
    /// Tasks that cannot be followed.
    pub const UNSEEN_TASKS: u32 = 3;
    /// Parts that were counted with all their waits.
    pub const COUNTED: u32 = 4;
    /// The time of the part outside of waits between readings of the thread's processor clock. Its count
    /// has the nanoseconds of that time that the thread was on a processor.
    pub const USEFUL_TIME: u32 = 5;
    /// As [`USEFUL_TIME`], of waits.
    pub const WAITING_TIME: u32 = 6;
    /// Parts in which the processor clock could not be read.
    pub const CLOCK_LOST: u32 = 7;
    /// The count of the first event in waits, stored as ticks. The counts of the other events follow.
    pub const COUNTS: u32 = 8;
    /// The first number of a site.
    pub const SITES: u32 = COUNTS + EVENTS as u32;
    /// Stands for the region of waits outside of regions. The thread is that of
    /// [`OutsideWaits`](crate::OutsideWaits).
    pub const OUTSIDE: u32 = u32::MAX;
}

impl WaitRow {
    /// A record outside of any arena.
    pub const fn unrecorded() -> WaitRow {
        zeroed()
    }

    /// Sets the region, the thread's number and the site.
    pub fn set_key(&self, region: u32, thread: u32, site: u32) {
        store(&self.key, u64::from(region) | u64::from(thread) << 32);
        store(&self.site, u64::from(site));
    }

    /// The region, the thread's number and the site.
    pub fn key(&self) -> (u32, u32, u32) {
        let key = load(&self.key);
        (key as u32, (key >> 32) as u32, load(&self.site) as u32)
    }

    /// Adds waits that took `ticks` together.
    #[inline(always)]
    pub fn add(&self, count: u64, ticks: u64) {
        add(&self.count, count);
        add(&self.ticks, ticks);
    }

    /// The latest wait outside of regions ended at `until`: a process that is killed lived until then.
    #[inline(always)]
    pub fn ended(&self, until: u64) {
        store(&self.until, until);
    }

    /// Whether it has waits of the part under way.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        load(&self.open_count) | load(&self.open_ticks) != 0
    }

    /// Adds waits of the part under way. Returns whether they are its first.
    #[inline(always)]
    pub fn add_open(&self, count: u64, ticks: u64) -> bool {
        let is_first = !self.is_open();
        add(&self.open_count, count);
        add(&self.open_ticks, ticks);
        is_first
    }

    /// The part has ended: adds its waits, each `weight` times. Returns their number.
    #[inline(always)]
    pub fn close(&self, weight: u64) -> u64 {
        let (count, ticks) = (load(&self.open_count), load(&self.open_ticks));
        self.forget_open();
        self.add(count * weight, ticks * weight);
        count
    }

    /// The part never ends.
    pub fn forget_open(&self) {
        store(&self.open_count, 0);
        store(&self.open_ticks, 0);
    }

    /// The number of waits and their ticks.
    pub fn sum(&self) -> (u64, u64) {
        (load(&self.count), load(&self.ticks))
    }
}
