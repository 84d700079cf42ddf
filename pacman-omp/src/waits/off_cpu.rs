//! The time in which a thread had work and no processor.
//!
//! It is the wall time of a part, minus its processor time, minus the time in which its waits blocked.
//! To read a thread's processor time takes a system call. So only parts and waits are read that are
//! long enough for the overhead budget. A wait that is not read counts as blocked all the time: what
//! remains is a lower bound.

use std::sync::atomic::{AtomicU64, Ordering};

use pacman_regions::OverheadBudget;

use crate::floating;
use crate::process;

/// The readings of a part so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartCpu {
    /// The nanoseconds on processors and the ticks at the start of the part; `None` if it is not read.
    began: Option<(u64, u64)>,
    /// The ticks of its waits, and the nanoseconds on processors in those that were read.
    waited: (u64, u64),
}

/// The sums of a part: nanoseconds on processors and ticks, of the part and of its waits.
pub(super) struct PartSums {
    pub(super) part: (u64, u64),
    pub(super) waits: (u64, u64),
}

impl PartCpu {
    /// A part whose mean has that many ticks so far.
    pub(super) fn begin(mean: Option<u64>) -> PartCpu {
        let began = is_long(mean).then(|| (now(), ticks()));
        PartCpu { began, ..PartCpu::default() }
    }

    pub(super) fn is_read(&self) -> bool {
        self.began.is_some()
    }

    /// Adds a wait of `ticks`, in which the thread ran for `ran` nanoseconds, if that was read.
    pub(super) fn with_wait(self, ticks: u64, ran: Option<u64>) -> PartCpu {
        let (waited, nanos) = self.waited;
        PartCpu { waited: (waited + ticks, nanos + ran.unwrap_or(0)), ..self }
    }

    /// Ends the part; `None` if it was not read.
    pub(super) fn end(self) -> Option<PartSums> {
        let (nanos, began) = self.began?;
        let part = (now().saturating_sub(nanos), process::between(began, ticks()));
        let (waited, ran) = self.waited;
        Some(PartSums { part, waits: (ran, waited) })
    }
}

/// Whether a part or a wait is long enough to read its processor time. The first is.
#[inline]
pub(super) fn is_long(mean: Option<u64>) -> bool {
    mean.is_none_or(|mean| mean >= least())
}

/// The ticks from which on two readings cost less than the budget.
fn least() -> u64 {
    static LEAST: AtomicU64 = AtomicU64::new(0);
    match LEAST.load(Ordering::Relaxed) {
        0 => {
            let cost = (0..5).map(|_| {
                let begun = ticks();
                now();
                ticks().saturating_sub(begun)
            });
            let cost = cost.min().unwrap_or(0);
            let budget = process::options().overhead.unwrap_or(OverheadBudget::DEFAULT);
            let least = floating::isolated(|| 2.0 * cost as f64 / budget.part()) as u64;
            LEAST.store(least.max(1), Ordering::Relaxed);
            least.max(1)
        }
        known => known,
    }
}

fn ticks() -> u64 {
    process::clock().now()
}

/// The nanoseconds that the calling thread has been on processors.
pub(super) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the place. The clock of the calling thread always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
