//! Counters and clock, read together at a phase's edges.

use crate::backend::{Counters, ReadPath, Reading};
use crate::clock::{Clock, ClockSource};
use crate::error::Result;

/// Reads a thread's counters and the clock, the cheaper of the two innermost, so
/// that neither shows much in what the other measures.
pub(super) struct Meter {
    counters: Box<dyn Counters>,
    clock: Clock,
    order: Order,
    multiplexed: bool,
}

/// Who stands where at the begin of a phase; the end is its mirror image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Counters, then RDTSC: a few nanoseconds, and the time holds no read.
    CountersThenTsc,
    /// Counters by `read(2)`, then the system's clock.
    CountersThenClock,
    /// The system's clock, then counters by RDPMC: where the clock is a system
    /// call of its own, it must not be counted.
    ClockThenCounters,
}

impl Meter {
    pub(super) fn new(counters: Box<dyn Counters>, clock: Clock) -> Meter {
        let caps = counters.caps();
        let order = match (clock.source(), caps.read_path) {
            (ClockSource::Tsc, _) => Order::CountersThenTsc,
            (ClockSource::Monotonic, ReadPath::ReadCall) => Order::CountersThenClock,
            (ClockSource::Monotonic, ReadPath::Rdpmc) => Order::ClockThenCounters,
        };
        Meter { counters, clock, order, multiplexed: caps.multiplexed }
    }

    /// Whether readings may miss a part of the time.
    #[inline(always)]
    pub(super) fn multiplexed(&self) -> bool {
        self.multiplexed
    }

    /// Reads the counters alone.
    #[inline(always)]
    pub(super) fn read(&mut self, reading: &mut Reading) -> Result<()> {
        self.counters.read(reading)
    }

    /// Reads at the begin of a phase; answers the ticks.
    #[inline(always)]
    pub(super) fn open(&mut self, reading: &mut Reading) -> Result<u64> {
        if self.order == Order::CountersThenTsc {
            self.counters.read(reading)?;
            return Ok(crate::clock::tsc());
        }
        self.open_by_clock(reading)
    }

    /// Reads at the end of a phase; answers the ticks.
    #[inline(always)]
    pub(super) fn close(&mut self, reading: &mut Reading) -> Result<u64> {
        if self.order == Order::CountersThenTsc {
            let ticks = crate::clock::tsc();
            self.counters.read(reading)?;
            return Ok(ticks);
        }
        self.close_by_clock(reading)
    }

    #[inline(never)]
    fn open_by_clock(&mut self, reading: &mut Reading) -> Result<u64> {
        if self.order == Order::ClockThenCounters {
            self.clock_first(reading)
        } else {
            self.counters_first(reading)
        }
    }

    #[inline(never)]
    fn close_by_clock(&mut self, reading: &mut Reading) -> Result<u64> {
        if self.order == Order::ClockThenCounters {
            self.counters_first(reading)
        } else {
            self.clock_first(reading)
        }
    }

    fn clock_first(&mut self, reading: &mut Reading) -> Result<u64> {
        let ticks = self.clock.now();
        self.counters.read(reading)?;
        Ok(ticks)
    }

    fn counters_first(&mut self, reading: &mut Reading) -> Result<u64> {
        self.counters.read(reading)?;
        Ok(self.clock.now())
    }
}
