//! Busy waits on clocks of the kernel and the processor.

use super::work::{Kernel, Work};
use crate::validate::checks::around::{Around, cpu_time, wall};
use crate::validate::checks::verdict::Truth;
use pacman_core::Result;
#[cfg(target_arch = "x86_64")]
use pacman_core::clock;

/// Nanoseconds of one wait: much longer than reading the counters, and shorter than a time slice.
const WAIT: u64 = 2_000_000;

/// Waits until the monotonic clock has moved, and notes the thread's CPU time.
#[derive(Debug, Default)]
pub(super) struct CpuTime {
    used: u64,
}

impl Kernel for CpuTime {
    fn run(&mut self, work: Work) -> Result<()> {
        if work == Work::Long {
            let (used, until) = (cpu_time(), wall() + WAIT);
            while wall() < until {
                std::hint::spin_loop();
            }
            self.used = cpu_time() - used;
        }
        Ok(())
    }

    fn truth(&self, around: &Around) -> Truth {
        Truth { low: self.used.max(1), high: around.wall.max(self.used) }
    }

    fn has_edges(&self) -> bool {
        false
    }

    fn disturbed(&self, around: &Around) -> bool {
        around.switches() > 0
    }
}

/// Waits until the time stamp counter has moved.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Default)]
pub(super) struct TimeStamps {
    passed: u64,
}

#[cfg(target_arch = "x86_64")]
impl Kernel for TimeStamps {
    fn run(&mut self, work: Work) -> Result<()> {
        if work == Work::Long {
            // One or a few milliseconds, depending on the rate of the TSC.
            let begin = clock::tsc();
            while clock::tsc().wrapping_sub(begin) < 2 * WAIT {}
            self.passed = clock::tsc().wrapping_sub(begin);
        }
        Ok(())
    }

    fn truth(&self, around: &Around) -> Truth {
        Truth { low: self.passed.max(1), high: around.ticks.max(self.passed) }
    }

    fn has_edges(&self) -> bool {
        false
    }

    fn disturbed(&self, around: &Around) -> bool {
        around.switches() > 0
    }
}
