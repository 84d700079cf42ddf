//! The processors that other programs used during a run.

use std::fs;
use std::time::Instant;

use pacman_regions::watch::affinity::{self, Mask};

use crate::system;

/// Seconds of a run. The kernel counts in hundredths, for each context.
const SHORTEST: f64 = 0.2;

/// The processor time of the contexts that this process may use, and its own, before a run.
pub(super) struct OtherPrograms {
    contexts: Mask,
    busy: f64,
    own: f64,
    began: Instant,
}

impl OtherPrograms {
    /// `None` without the kernel's account.
    pub(super) fn begin() -> Option<OtherPrograms> {
        let contexts = affinity::of(0)?;
        let busy = busy(&fs::read_to_string("/proc/stat").ok()?, &contexts)?;
        Some(OtherPrograms { contexts, busy, own: own(), began: Instant::now() })
    }

    /// The mean number of processors that neither this process nor its children used.
    pub(super) fn end(self) -> Option<f64> {
        let seconds = self.began.elapsed().as_secs_f64();
        let now = busy(&fs::read_to_string("/proc/stat").ok()?, &self.contexts)?;
        let others = (now - self.busy) - (own() - self.own);
        (seconds >= SHORTEST).then(|| (others / seconds).max(0.0))
    }
}

/// The seconds in which `contexts` were neither idle nor waiting for a disk, since the system started.
fn busy(text: &str, contexts: &Mask) -> Option<f64> {
    let of_contexts =
        system::ticks_of_contexts(text).filter(|(cpu, _)| affinity::has(contexts, *cpu));
    // user, nice, system, idle, iowait, irq, softirq, steal; the guests' time is in user and nice.
    let busy = of_contexts.map(|(_, ticks)| {
        let own = ticks.iter().take(8).enumerate().filter(|(at, _)| ![3, 4].contains(at));
        own.map(|(_, ticks)| ticks).sum::<u64>()
    });
    let ticks: Vec<u64> = busy.collect();
    (!ticks.is_empty()).then(|| ticks.iter().sum::<u64>() as f64 / system::ticks_per_second())
}

/// The processor time of this process and of its children that have ended, in seconds.
fn own() -> f64 {
    let of = |who| {
        let usage = system::usage(who);
        system::duration(usage.ru_utime) + system::duration(usage.ru_stime)
    };
    (of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_allowed_contexts_is_without_their_idle_time() {
        let text = "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 100 10 40 900 50 5 5 40 7 0\ncpu1 300 0 0 1 1 0 0 0 0 0\nintr 5\n";
        let seconds = |ticks: f64| Some(ticks / system::ticks_per_second());
        assert_eq!(busy(text, &affinity::single(0)), seconds(200.0));
        assert_eq!(busy(text, &affinity::single(1)), seconds(300.0));
        assert_eq!(busy(text, &affinity::single(9)), None);
    }
}
