//! The thread's clocks and accounting around a run.

use pacman_core::clock;

use crate::system;

/// The difference of each from before a run to after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    /// Nanoseconds of the monotonic clock.
    pub(super) wall: u64,
    /// Ticks of the time stamp counter, for the kernel that waits by it.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    pub(super) ticks: u64,
    /// Times that the thread gave the CPU away because it waited.
    pub(super) waits: u64,
    /// Times that it was taken away.
    pub(super) preemptions: u64,
}

impl Around {
    /// Times that the thread was off its CPU.
    pub(super) fn switches(&self) -> u64 {
        self.waits + self.preemptions
    }
}

/// The clocks and ledgers at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment(Around);

impl Moment {
    pub(super) fn now() -> Moment {
        let (waits, preemptions) = switches();
        Moment(Around { wall: wall(), ticks: clock::tsc(), waits, preemptions })
    }

    /// From this moment to now.
    pub(super) fn until_now(&self) -> Around {
        // Read clocks first and last, so that all other readings are between them.
        let (ticks, wall) = (clock::tsc(), wall());
        let (waits, preemptions) = switches();
        Around {
            wall: wall - self.0.wall,
            ticks: ticks.wrapping_sub(self.0.ticks),
            waits: waits - self.0.waits,
            preemptions: preemptions - self.0.preemptions,
        }
    }
}

/// Nanoseconds of the monotonic clock.
pub(super) fn wall() -> u64 {
    system::clock(libc::CLOCK_MONOTONIC).as_nanos() as u64
}

/// Nanoseconds that the calling thread has had a CPU.
pub(super) fn cpu_time() -> u64 {
    system::clock(libc::CLOCK_THREAD_CPUTIME_ID).as_nanos() as u64
}

fn switches() -> (u64, u64) {
    let usage = system::usage(libc::RUSAGE_THREAD);
    (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64)
}
