//! Counters and clock, read together at a phase's edges.

use crate::backend::{Caps, Counters, EventSums, ReadPath, Reading};
use crate::clock::{Clock, ClockSource};
use pacman_events::Result;

/// Reads a thread's counters and the clock, the cheaper of the two innermost, so
/// that neither shows much in what the other measures.
pub(super) struct Meter {
    counters: Box<dyn Counters>,
    clock: Clock,
    order: Order,
    multiplexed: bool,
    /// The usual case: time by the TSC, of counters that are never off.
    plain: bool,
}

/// The order of clock and counters at the begin of a phase; the end mirrors it.
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
        let multiplexed = caps.multiplexed;
        let plain = order == Order::CountersThenTsc && !multiplexed;
        Meter { counters, clock, order, multiplexed, plain }
    }

    /// As [`Counters::stand_by`].
    pub(super) fn stand_by(&mut self) -> Result<bool> {
        self.counters.stand_by()
    }

    /// As [`Counters::resume`].
    pub(super) fn resume(&mut self) -> Result<()> {
        self.counters.resume()
    }

    /// Whether the counters are still what they were opened as.
    pub(super) fn verify(&mut self) -> Result<()> {
        self.counters.verify()
    }

    /// The abilities of the counters.
    pub(super) fn caps(&self) -> Caps {
        self.counters.caps()
    }

    /// Whether a begin is a read of counters that are never off, then RDTSC, and an end the same
    /// backwards.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether readings may miss a part of the time.
    #[inline(always)]
    pub(super) fn multiplexed(&self) -> bool {
        self.multiplexed
    }

    /// Reads the counters alone.
    #[inline(always)]
    pub(super) fn read(&self, reading: &mut Reading) -> Result<()> {
        self.counters.read(reading)
    }

    /// Reads the counters alone, and adds to `sums` what counted since `begun`.
    #[inline(always)]
    pub(super) fn add_since(&self, begun: &Reading, sums: &EventSums) -> Result<()> {
        self.counters.add_since(begun, sums)
    }

    /// As [`open`](Self::open), of a [plain](Self::is_plain) meter.
    #[inline(always)]
    pub(super) fn open_plain(&self, reading: &mut Reading, ticks: &mut u64) -> Result<()> {
        debug_assert!(self.plain);
        self.counters.read(reading)?;
        *ticks = crate::clock::tsc();
        Ok(())
    }

    /// As [`close`](Self::close), of a [plain](Self::is_plain) meter.
    #[inline(always)]
    pub(super) fn close_plain(&self, reading: &mut Reading, ticks: &mut u64) -> Result<()> {
        debug_assert!(self.plain);
        *ticks = crate::clock::tsc();
        self.counters.read(reading)
    }

    /// Reads at the begin of a phase.
    // Ticks are written, not answered: a result that is one word stays in a register.
    #[inline(always)]
    pub(super) fn open(&self, reading: &mut Reading, ticks: &mut u64) -> Result<()> {
        if self.order == Order::CountersThenTsc {
            self.counters.read(reading)?;
            *ticks = crate::clock::tsc();
            return Ok(());
        }
        self.open_by_clock(reading, ticks)
    }

    /// Reads at the end of a phase.
    #[inline(always)]
    pub(super) fn close(&self, reading: &mut Reading, ticks: &mut u64) -> Result<()> {
        if self.order == Order::CountersThenTsc {
            *ticks = crate::clock::tsc();
            return self.counters.read(reading);
        }
        self.close_by_clock(reading, ticks)
    }

    #[inline(never)]
    fn open_by_clock(&self, reading: &mut Reading, ticks: &mut u64) -> Result<()> {
        if self.order == Order::ClockThenCounters {
            self.clock_first(reading, ticks)
        } else {
            self.counters_first(reading, ticks)
        }
    }

    #[inline(never)]
    fn close_by_clock(&self, reading: &mut Reading, ticks: &mut u64) -> Result<()> {
        if self.order == Order::ClockThenCounters {
            self.counters_first(reading, ticks)
        } else {
            self.clock_first(reading, ticks)
        }
    }

    fn clock_first(&self, reading: &mut Reading, ticks: &mut u64) -> Result<()> {
        *ticks = self.clock.now();
        self.counters.read(reading)
    }

    fn counters_first(&self, reading: &mut Reading, ticks: &mut u64) -> Result<()> {
        self.counters.read(reading)?;
        *ticks = self.clock.now();
        Ok(())
    }
}
