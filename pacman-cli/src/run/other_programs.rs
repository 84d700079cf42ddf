//! The processors that other programs used during a run.

use std::fs;
use std::time::Instant;

use pacman_regions::watch::affinity::{self, Mask};

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
        let busy = busy(&fs::read_to_string("/proc/stat").ok()?, &contexts, ticks()?)?;
        Some(OtherPrograms { contexts, busy, own: own(), began: Instant::now() })
    }

    /// The mean number of processors that neither this process nor its children used.
    pub(super) fn end(self) -> Option<f64> {
        let seconds = self.began.elapsed().as_secs_f64();
        let now = busy(&fs::read_to_string("/proc/stat").ok()?, &self.contexts, ticks()?)?;
        let others = (now - self.busy) - (own() - self.own);
        (seconds >= SHORTEST).then(|| (others / seconds).max(0.0))
    }
}

fn ticks() -> Option<f64> {
    // SAFETY: it only returns a number.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then_some(ticks as f64)
}

/// The seconds in which `contexts` were neither idle nor waiting for a disk, since the system started.
fn busy(text: &str, contexts: &Mask, ticks: f64) -> Option<f64> {
    let of = |line: &str| {
        let mut words = line.split_whitespace();
        let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
        let times: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
        // user, nice, system, idle, iowait, irq, softirq, steal; the guests' time is in user and nice.
        let all: f64 = times.iter().take(8).sum();
        affinity::has(contexts, cpu)
            .then(|| all - times.get(3).unwrap_or(&0.0) - times.get(4).unwrap_or(&0.0))
    };
    let times: Vec<f64> = text.lines().filter_map(of).collect();
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / ticks)
}

/// The processor time of this process and of its children that have ended, in seconds.
fn own() -> f64 {
    let of = |who| {
        // SAFETY: all-zero bytes are a valid rusage.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live rusage. The call cannot fail with these arguments.
        unsafe { libc::getrusage(who, &raw mut usage) };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + 1e-6 * time.tv_usec as f64;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_allowed_contexts_is_without_their_idle_time() {
        let text = "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 100 10 40 900 50 5 5 40 7 0\ncpu1 300 0 0 1 1 0 0 0 0 0\nintr 5\n";
        assert_eq!(busy(text, &affinity::single(0), 100.0), Some(2.0));
        assert_eq!(busy(text, &affinity::single(1), 100.0), Some(3.0));
        assert_eq!(busy(text, &affinity::single(9), 100.0), None);
    }
}
