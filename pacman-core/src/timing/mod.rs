//! How long a short section of code takes, down to a few nanoseconds.
//!
//! A section is run many times over. Every run lies between readings of the time stamp counter
//! that let nothing leak in or out, what the readings cost themselves is measured on the spot and
//! subtracted, and runs that something else happened in are left out, with the reason. After John
//! McCalpin, *Comments on timing short code sections on Intel processors*, 2018.
//!
//! | at the begin | at the end |
//! |---|---|
//! | `LFENCE; RDTSC; LFENCE` | `RDTSCP; LFENCE` (`LFENCE; RDTSC; LFENCE` before RDTSCP existed) |
//!
//! The article's order for a lower bound is `RDTSC; LFENCE` before and `RDTSCP` after: the fence
//! keeps the section from starting before the clock is read, and RDTSCP waits for what came
//! before it. The fences added outside keep the run before this one, and the bookkeeping after
//! it, from overlapping with the readings. On AMD, LFENCE waits like this because Linux tells the
//! processor so at boot; in a virtual machine the host must have done it.
//!
//! # What can be told without counters, and what not
//!
//! | disturbance | how it is seen |
//! |---|---|
//! | migration | the CPU's number before and after each run; a thread that came back in between is not seen |
//! | switch to another thread, page fault | `getrusage` around batches of runs of together 100 µs: the whole batch goes |
//! | change of frequency | a chain of additions, timed around each batch: the batch goes if the two differ by more than 2 %. A change that is undone within the batch is not seen |
//! | interrupt, halt, host's other guests | nothing tells them from a section that is slow now and then: runs far above the others go, as such |
//!
//! The TSC need not go tick by tick: on Zen 3 it was seen to go in steps of 10 ns (22.5 ticks), and
//! [`Timed::step`] says so. Ticks are of a constant rate. They are cycles of the core only while the core happens to run
//! at that rate: compare [`Pace`] of two timings before comparing their ticks.
//!
//! Where there is no invariant TSC, the system's monotonic clock takes its place, with steps of a
//! nanosecond and a cost of tens; [`Timed::source`] says so.

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
use crate::error::{Error, ErrorKind, Result};

/// Times sections of code on the calling thread.
///
/// The thread should be bound ([`Binding`](crate::Binding)). A sibling that is busy slows the
/// section and is not noticed.
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
    /// A timer by the TSC where it is invariant, else by the monotonic clock.
    pub fn detect() -> Timer {
        let source = match constant_tsc() {
            Ok(()) => ClockSource::Tsc,
            Err(_) => ClockSource::Monotonic,
        };
        Timer { source, repetitions: 1_000, warm_up: Duration::from_millis(100) }
    }

    /// A timer by a chosen source.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for the TSC of a processor that has none, or does not promise
    /// that it ticks at one rate.
    pub fn with_source(source: ClockSource) -> Result<Timer> {
        if source == ClockSource::Tsc {
            constant_tsc().map_err(no_tsc)?;
        }
        Ok(Timer { source, ..Timer::detect() })
    }

    /// Runs the section so often, from 1 to 10 million times; 1000 unless told.
    #[must_use]
    pub fn repetitions(self, repetitions: u32) -> Timer {
        Timer { repetitions, ..self }
    }

    /// Runs the section for so long before it counts, and once at least; 0.1 s unless told.
    ///
    /// The article warms up for some seconds, with instructions as wide as the section's: caches,
    /// branch predictors, the frequency and the wide parts of the pipeline take their time.
    #[must_use]
    pub fn warm_up(self, warm_up: Duration) -> Timer {
        Timer { warm_up, ..self }
    }

    /// Where the ticks come from.
    pub fn source(&self) -> ClockSource {
        self.source
    }

    /// Runs `section` and says how long it takes.
    ///
    /// The compiler may move a computation out of the section that has no effect in it: pass its
    /// input through [`black_box`](std::hint::black_box). The result is passed through it here.
    ///
    /// # Errors
    /// - [`ErrorKind::InvalidInput`] for no repetitions, or too many.
    /// - [`ErrorKind::NotComputable`] if every run had to be discarded; the text says why.
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

/// Whether ticks of the TSC are of one length; the error is a reason.
#[cfg(target_arch = "x86_64")]
fn constant_tsc() -> Result<(), &'static str> {
    let power = raw_cpuid::CpuId::new().get_advanced_power_mgmt_info();
    let announced = power.is_some_and(|power| power.has_invariant_tsc());
    promised(announced, Clock::detect().source() == ClockSource::Tsc)
}

/// The kernel may know of a constant rate that old processors do not announce.
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

/// 160 MB of runs.
const MOST_REPETITIONS: u32 = 10_000_000;

/// How long runs may take together before the kernel is asked what it did meanwhile: long against
/// asking, short against the milliseconds between timer interrupts.
const BATCH_NANOS: f64 = 100_000.0;
