//! The counts of one event set, if sets rotate.

use std::sync::atomic::AtomicU64;

use super::cell::{add, load, store, zeroed};
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
    /// The sum of the measure over `counted` executions: of a quantity that is known in every execution,
    /// whatever set it counts.
    pub(super) measure: AtomicU64,
    /// The turns of the set, and their greatest measure.
    pub(super) turns: AtomicU64,
    pub(super) longest: AtomicU64,
    /// Sums over the turns, as bits of `f64`: the squares of the measure, and for each event the squares of
    /// its counts and the products of both.
    pub(super) measure_squares: AtomicU64,
    pub(super) squares: [AtomicU64; EVENTS],
    pub(super) products: [AtomicU64; EVENTS],
    /// The greatest quotient of each event's count and the measure in a turn, as bits of `f64`.
    pub(super) rates: [AtomicU64; EVENTS],
}

/// A turn of a set, and what its row had before.
#[derive(Debug)]
pub struct SetTurn {
    measure: u64,
    counts: [u64; EVENTS],
    longest: u64,
    measure_squares: f64,
    squares: [f64; EVENTS],
    products: [f64; EVENTS],
    rates: [f64; EVENTS],
}

impl SetRow {
    /// A record outside of any arena.
    pub const fn unrecorded() -> SetRow {
        zeroed()
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

    /// Adds the counts of an execution. `add_to` adds one count for each event, or returns false.
    pub fn count(&self, add_to: impl FnOnce(&[AtomicU64; EVENTS]) -> bool) {
        if add_to(&self.counts) {
            add(&self.counted, 1);
        }
    }

    /// The sums of all events of the set.
    pub fn sums(&self) -> [u64; EVENTS] {
        std::array::from_fn(|place| load(&self.counts[place]))
    }

    /// The sum of an event of the set, by its place there.
    pub fn sum(&self, place: usize) -> u64 {
        load(&self.counts[place])
    }

    /// Begins a turn.
    pub fn begin_turn(&self) -> SetTurn {
        add(&self.turns, 1);
        SetTurn {
            measure: load(&self.measure),
            counts: self.counts.each_ref().map(load),
            longest: load(&self.longest),
            measure_squares: real(&self.measure_squares),
            squares: self.squares.each_ref().map(real),
            products: self.products.each_ref().map(real),
            rates: self.rates.each_ref().map(real),
        }
    }

    /// An execution of the turn was counted, and had that measure. The set has as many events.
    pub fn measure(&self, turn: &SetTurn, measure: u64, events: usize) {
        add(&self.measure, measure);
        let measure = load(&self.measure).wrapping_sub(turn.measure);
        store(&self.longest, turn.longest.max(measure));
        let measure = measure as f64;
        store_real(&self.measure_squares, turn.measure_squares + measure * measure);
        for at in 0..events.min(EVENTS) {
            let count = load(&self.counts[at]).wrapping_sub(turn.counts[at]) as f64;
            store_real(&self.squares[at], turn.squares[at] + count * count);
            store_real(&self.products[at], turn.products[at] + count * measure);
            store_real(&self.rates[at], turn.rates[at].max(count / measure.max(1.0)));
        }
    }
}

fn real(cell: &AtomicU64) -> f64 {
    f64::from_bits(load(cell))
}

fn store_real(cell: &AtomicU64, value: f64) {
    store(cell, value.to_bits());
}
