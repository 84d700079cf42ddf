//! Wall time in ticks: cheap to read at a phase's edges. It is converted to nanoseconds only for
//! reports and samples.

use std::sync::OnceLock;
use std::time::Duration;

use crate::arch;
use crate::fork::once;

/// The origin of ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockSource {
    /// The counter of time that user programs read, if the kernel itself keeps time by it: the time
    /// stamp counter of x86, `CNTVCT_EL0` on AArch64.
    Tsc,
    /// `clock_gettime(CLOCK_MONOTONIC)`, in nanoseconds.
    Monotonic,
}

/// A clock whose ticks mean the same on every thread of this machine.
///
/// AArch64 states the rate of its counter. The TSC's rate is measured against the system's clock, from
/// the clock's first use until now. So the measurement takes no extra time, and becomes more exact.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    source: ClockSource,
}

/// A TSC reading and a system clock reading taken together.
#[derive(Clone, Copy)]
struct Anchor {
    ticks: u64,
    nanos: u64,
}

static ANCHOR: OnceLock<Anchor> = OnceLock::new();

/// The shortest time in nanoseconds over which the rate is measured.
///
/// The readings of the two clocks are some 50 ns apart at either end. So 1 ms keeps the error
/// below 0.01 %, and an early caller waits at most 1 ms.
const BASELINE: u64 = 1_000_000;

impl Clock {
    /// The best clock of this system.
    ///
    /// It is the TSC if Linux uses it as its clock source: the kernel has then checked that it is
    /// constant, does not stop and agrees between CPUs.
    pub fn detect() -> Clock {
        static DETECTED: OnceLock<ClockSource> = OnceLock::new();
        let source = *once(&DETECTED, || {
            let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
            let current = std::fs::read_to_string(path).unwrap_or_default();
            if arch::CLOCK_SOURCE == Some(current.trim()) {
                ClockSource::Tsc
            } else {
                ClockSource::Monotonic
            }
        });
        Clock::with_source(source)
    }

    /// The counter of [`ClockSource::Tsc`], even if the kernel does not keep time by it, for comparison
    /// with counts of reference cycles. `None` for a processor without one.
    pub fn tsc() -> Option<Clock> {
        arch::CLOCK_SOURCE.map(|_| Clock::with_source(ClockSource::Tsc))
    }

    /// The system's clock.
    pub fn monotonic() -> Clock {
        Clock::with_source(ClockSource::Monotonic)
    }

    /// A clock with a chosen source.
    pub(crate) fn with_source(source: ClockSource) -> Clock {
        if source == ClockSource::Tsc {
            once(&ANCHOR, Anchor::take);
        }
        Clock { source }
    }

    /// The source of this clock's ticks.
    pub fn source(&self) -> ClockSource {
        self.source
    }

    /// The time now, in ticks.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        match self.source {
            ClockSource::Tsc => tsc(),
            ClockSource::Monotonic => monotonic(),
        }
    }

    /// The length of one tick in nanoseconds.
    pub fn nanos_per_tick(&self) -> f64 {
        match self.source {
            ClockSource::Monotonic => 1.0,
            ClockSource::Tsc => {
                if let Some(rate) = arch::ticks_per_second() {
                    return 1e9 / rate as f64;
                }
                let anchor = once(&ANCHOR, Anchor::take);
                loop {
                    let now = Anchor::take();
                    let nanos = now.nanos - anchor.nanos;
                    if nanos >= BASELINE {
                        return nanos as f64 / now.ticks.wrapping_sub(anchor.ticks) as f64;
                    }
                    std::hint::spin_loop();
                }
            }
        }
    }

    /// A span of ticks as a duration.
    pub fn duration(&self, ticks: u64) -> Duration {
        Duration::from_nanos((ticks as f64 * self.nanos_per_tick()) as u64)
    }
}

impl Anchor {
    /// The closest of a few tries. An interrupt between the two reads shows as a long TSC span
    /// around the system's clock.
    fn take() -> Anchor {
        (0..5)
            .map(|_| {
                let before = tsc();
                let nanos = monotonic();
                let after = tsc();
                (after - before, Anchor { ticks: before + (after - before) / 2, nanos })
            })
            .min_by_key(|(span, _)| *span)
            .map(|(_, anchor)| anchor)
            .expect("five tries")
    }
}

/// The ticks of [`ClockSource::Tsc`] now, without order against other instructions.
#[inline(always)]
#[doc(hidden)]
pub fn tsc() -> u64 {
    arch::ticks()
}

fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec; the clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn ticks_become_the_time_that_passed() {
        let clock = Clock::detect();
        let (start, ticks) = (Instant::now(), clock.now());
        while start.elapsed() < Duration::from_millis(20) {
            std::hint::spin_loop();
        }
        let measured = clock.duration(clock.now() - ticks);
        let real = start.elapsed();
        assert!(measured <= real + Duration::from_millis(1), "{measured:?} against {real:?}");
        assert!(measured >= Duration::from_millis(19), "{measured:?} against {real:?}");
    }

    #[test]
    fn the_monotonic_clock_counts_nanoseconds() {
        let clock = Clock::with_source(ClockSource::Monotonic);
        assert_eq!(clock.duration(1_500).as_nanos(), 1_500);
    }
}
