//! The clock and the kernel's accounting below a timing, behind an interface for tests.

#[cfg(target_arch = "x86_64")]
use super::{pace, stamp};
use crate::clock::Clock;
#[cfg(target_arch = "x86_64")]
use crate::clock::ClockSource;
#[cfg(target_arch = "x86_64")]
use crate::platform::cpuid;
use pacman_topology::current_cpu;

/// The clock around a section, and the kernel's facts about the time between two readings.
pub(super) trait Instrument {
    /// The CPU that the thread runs on; the same number for all unknown CPUs.
    fn cpu(&mut self) -> u32;

    /// The time before a section.
    fn begin(&mut self) -> u64;

    /// The time after a section, and the CPU at that moment.
    fn end(&mut self) -> (u64, u32);

    /// The kernel's work for the thread so far.
    fn kernel(&mut self) -> KernelWork;

    /// Ticks of a chain of [`pace::ADDITIONS`]; `None` if it cannot be measured.
    fn pace(&mut self) -> Option<u64>;
}

/// Counts of the kernel's work for a thread; two are equal if the kernel did nothing in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KernelWork {
    pub(super) switches: u64,
    pub(super) faults: u64,
}

/// The instruments of this machine.
pub(super) enum Live {
    Monotonic(Monotonic),
    #[cfg(target_arch = "x86_64")]
    Rdtsc(Rdtsc),
    #[cfg(target_arch = "x86_64")]
    Rdtscp(Rdtscp),
}

/// The system's clock.
pub(super) struct Monotonic(Clock);

/// Fences around RDTSC, for processors without RDTSCP.
#[cfg(target_arch = "x86_64")]
pub(super) struct Rdtsc;

/// The article's method. Made only if the processor has RDTSCP.
#[cfg(target_arch = "x86_64")]
pub(super) struct Rdtscp(());

impl Live {
    pub(super) fn of(clock: Clock) -> Live {
        #[cfg(target_arch = "x86_64")]
        if clock.source() == ClockSource::Tsc {
            return match cpuid::has_rdtscp() {
                true => Live::Rdtscp(Rdtscp(())),
                false => Live::Rdtsc(Rdtsc),
            };
        }
        Live::Monotonic(Monotonic(clock))
    }
}

impl Instrument for Monotonic {
    fn cpu(&mut self) -> u32 {
        asked_cpu()
    }

    #[inline(always)]
    fn begin(&mut self) -> u64 {
        self.0.now()
    }

    #[inline(always)]
    fn end(&mut self) -> (u64, u32) {
        let ticks = self.0.now();
        (ticks, asked_cpu())
    }

    fn kernel(&mut self) -> KernelWork {
        usage()
    }

    /// Steps of a nanosecond and a cost of tens are too coarse for such a short chain.
    fn pace(&mut self) -> Option<u64> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
impl Instrument for Rdtsc {
    fn cpu(&mut self) -> u32 {
        asked_cpu()
    }

    #[inline(always)]
    fn begin(&mut self) -> u64 {
        stamp::begin()
    }

    #[inline(always)]
    fn end(&mut self) -> (u64, u32) {
        // A begin between two fences can also serve as an end.
        let ticks = stamp::begin();
        (ticks, asked_cpu())
    }

    fn kernel(&mut self) -> KernelWork {
        usage()
    }

    fn pace(&mut self) -> Option<u64> {
        Some(pace::ticks(stamp::begin))
    }
}

#[cfg(target_arch = "x86_64")]
impl Instrument for Rdtscp {
    #[inline(always)]
    fn cpu(&mut self) -> u32 {
        self.end().1
    }

    #[inline(always)]
    fn begin(&mut self) -> u64 {
        stamp::begin()
    }

    #[inline(always)]
    fn end(&mut self) -> (u64, u32) {
        // SAFETY: `Live::of` has made sure that the processor has RDTSCP.
        unsafe { stamp::end() }
    }

    fn kernel(&mut self) -> KernelWork {
        usage()
    }

    fn pace(&mut self) -> Option<u64> {
        Some(pace::ticks(stamp::begin))
    }
}

fn asked_cpu() -> u32 {
    current_cpu().unwrap_or(u32::MAX)
}

fn usage() -> KernelWork {
    // SAFETY: an all-zero rusage is a valid value; the call fills it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // It fails only for a bad pointer or selector.
    // SAFETY: the pointer is to a live rusage.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    KernelWork {
        switches: usage.ru_nvcsw as u64 + usage.ru_nivcsw as u64,
        faults: usage.ru_minflt as u64 + usage.ru_majflt as u64,
    }
}
