//! Measures the time of a short section of code, down to a few nanoseconds.
//!
//! The timer runs a section many times. Each run lies between two readings of the time stamp
//! counter, with fences that keep other instructions out. The timer measures the cost of the
//! readings and subtracts it. It discards disturbed runs, and reports the reasons. The method
//! follows John McCalpin, *Comments on timing short code sections on Intel processors*, 2018.
//!
//! | at the begin | at the end |
//! |---|---|
//! | `LFENCE; RDTSC; LFENCE` | `RDTSCP; LFENCE` (`LFENCE; RDTSC; LFENCE` before RDTSCP existed) |
//!
//! The article's order for a lower bound is `RDTSC; LFENCE` before the section and `RDTSCP` after
//! it. The fence keeps the section from starting before the clock is read, and RDTSCP waits for
//! all instructions before it. The outer fences are additions: they keep the previous run and the
//! later bookkeeping from overlapping with the readings. On AMD, LFENCE waits only because Linux
//! configures the processor so at boot. In a virtual machine the host must have done so.
//!
//! # Disturbances that the timer detects without counters
//!
//! | disturbance | detection |
//! |---|---|
//! | migration | The CPU's number before and after each run differs. A migration and return within a run stays undetected. |
//! | switch to another thread, page fault | `getrusage` changes around a batch of runs of 100 µs together: the timer discards the batch. |
//! | change of frequency | A chain of additions, timed around each batch, changes by more than 2 %: the timer discards the batch. A change that ends within the batch stays undetected. |
//! | interrupt, halt, host's other guests | They cannot be told from a section that is sometimes slow: the timer discards runs far above the others. |
//!
//! The TSC may advance in steps of several ticks, 10 ns (22.5 ticks) on Zen 3; [`Timed::step`] has
//! the step. Ticks have a constant rate. They are cycles of the core only while the core runs at
//! that rate: compare the [`Pace`] of two timings before you compare their ticks.
//!
//! Without an invariant TSC, the timer uses the system's monotonic clock. It has steps of 1 ns,
//! and each reading costs tens of nanoseconds. [`Timed::source`] names the clock in use.

mod instrument;
mod pace;
mod plan;
mod run;
mod timed;

#[cfg(target_arch = "x86_64")]
mod stamp;
#[cfg(test)]
mod tests;

pub use self::pace::Pace;
pub use self::timed::{Caveat, Discard, Discarded, Timed};

use std::time::Duration;

use self::instrument::Live;
use self::plan::Plan;
use crate::clock::{Clock, ClockSource};
#[cfg(target_arch = "x86_64")]
use crate::platform::cpuid;
use pacman_events::{Error, ErrorKind, Result};

/// Times sections of code on the calling thread.
///
/// The thread should be bound ([`Binding`](crate::Binding)). A busy sibling slows the section, and
/// the timer does not notice it.
///
/// ```
/// use std::hint::black_box;
/// use pacman_core::timing::Timer;
///
/// let numbers: Vec<u64> = (0..100).collect();
/// let timed = Timer::detect()
///     .repetitions(200)
///     .warm_up(std::time::Duration::from_millis(1))
///     .time(|| black_box(&numbers).iter().sum::<u64>())?;
/// println!("{:.0} ns at best, {:.0} ns half of the time", timed.nanos(timed.minimum),
///     timed.nanos(timed.median));
/// assert!(timed.minimum <= timed.median && timed.kept > 0);
/// # Ok::<(), pacman_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    source: ClockSource,
    repetitions: u32,
    warm_up: Duration,
}

impl Timer {
    /// A timer with the TSC if it is invariant, otherwise with the monotonic clock.
    pub fn detect() -> Timer {
        let source = match constant_tsc() {
            Ok(()) => ClockSource::Tsc,
            Err(_) => ClockSource::Monotonic,
        };
        Timer { source, repetitions: 1_000, warm_up: Duration::from_millis(100) }
    }

    /// A timer with a chosen source.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for the TSC if the processor has none, or does not promise a
    /// constant rate.
    pub fn with_source(source: ClockSource) -> Result<Timer> {
        if source == ClockSource::Tsc {
            constant_tsc().map_err(no_tsc)?;
        }
        Ok(Timer { source, ..Timer::detect() })
    }

    /// Sets the number of counted runs, from 1 to 10 million; the default is 1000.
    #[must_use]
    pub fn repetitions(self, repetitions: u32) -> Timer {
        Timer { repetitions, ..self }
    }

    /// Sets the time for which the section runs uncounted at first; the default is 0.1 s.
    ///
    /// The section runs uncounted at least once. The article warms up for some seconds, because
    /// caches, branch predictors, the frequency and wide execution units need time to settle.
    #[must_use]
    pub fn warm_up(self, warm_up: Duration) -> Timer {
        Timer { warm_up, ..self }
    }

    /// The source of the ticks.
    pub fn source(&self) -> ClockSource {
        self.source
    }

    /// Runs `section` repeatedly and returns its time.
    ///
    /// The compiler may move a computation out of the section if its input is known. Pass the
    /// input through [`black_box`](std::hint::black_box); the timer does so with the result.
    ///
    /// # Errors
    /// - [`ErrorKind::InvalidInput`] if the number of repetitions is not from 1 to 10 million.
    /// - [`ErrorKind::NotComputable`] if every run was disturbed; the text gives the reasons.
    pub fn time<T>(&self, section: impl FnMut() -> T) -> Result<Timed> {
        if !(1..=MOST_REPETITIONS).contains(&self.repetitions) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot time a section in {} repetitions: from 1 to {MOST_REPETITIONS} are \
                     possible",
                    self.repetitions
                ),
            ));
        }
        let clock = Clock::with_source(self.source);
        let rate = clock.nanos_per_tick();
        let ticks = |nanos: f64| (nanos / rate) as u64;
        let plan = Plan {
            source: self.source,
            nanos_per_tick: rate,
            repetitions: self.repetitions,
            warm_up: ticks(self.warm_up.as_nanos() as f64),
            batch: ticks(BATCH_NANOS).max(1),
        };
        match Live::of(clock) {
            Live::Monotonic(mut instrument) => run::run(&mut instrument, &plan, section),
            #[cfg(target_arch = "x86_64")]
            Live::Rdtsc(mut instrument) => run::run(&mut instrument, &plan, section),
            #[cfg(target_arch = "x86_64")]
            Live::Rdtscp(mut instrument) => run::run(&mut instrument, &plan, section),
        }
    }
}

/// Checks that the TSC ticks at a constant rate; the error is the reason why it may not.
#[cfg(target_arch = "x86_64")]
fn constant_tsc() -> Result<(), &'static str> {
    promised(cpuid::has_invariant_tsc(), Clock::detect().source() == ClockSource::Tsc)
}

/// Accepts a TSC that the kernel uses, because old processors do not announce a constant rate.
#[cfg(target_arch = "x86_64")]
fn promised(announced: bool, kernel_keeps_time: bool) -> Result<(), &'static str> {
    if announced || kernel_keeps_time {
        return Ok(());
    }
    Err("the processor does not promise that it ticks at one rate (CPUID 80000007H, EDX bit 8), \
         or a hypervisor hides that it does")
}

#[cfg(not(target_arch = "x86_64"))]
fn constant_tsc() -> Result<(), &'static str> {
    Err("this architecture has none")
}

#[cold]
fn no_tsc(why: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("cannot time by the TSC: {why}; Timer::detect takes the monotonic clock then"),
    )
}

/// At 16 bytes each, this is 160 MB of runs.
const MOST_REPETITIONS: u32 = 10_000_000;

/// The length of a batch of runs, in nanoseconds, between two queries of the kernel's accounting.
///
/// It is long against the query, and short against the milliseconds between timer interrupts.
const BATCH_NANOS: f64 = 100_000.0;
