//! A control group's quota of CPU time during a run, and a sentence about it.

use std::time::Instant;

use pacman_core::topology::{Quota, Throttling};

use crate::words::share;
use pacman_events::plural::number;

/// A quota, from the start of a run to its end.
pub(crate) struct QuotaWatch {
    quota: Quota,
    before: Throttling,
    began: Instant,
}

/// A group that stood still during the run, because it had used up its quota.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Throttled {
    /// The quota in processors.
    cpus: f64,
    /// The threads for which it leaves something to do.
    fitting: usize,
    /// The part of the periods in which the group was throttled.
    periods: f64,
    /// The time for which a processor stood still, over the time of the run.
    processors: f64,
}

impl QuotaWatch {
    /// `None` without a quota, and without the kernel's account of one.
    pub(crate) fn begin() -> Option<QuotaWatch> {
        let quota = Quota::of_this_process()?;
        let before = quota.throttling()?;
        Some(QuotaWatch { quota, before, began: Instant::now() })
    }

    /// `None` if the group was never throttled.
    pub(crate) fn end(self) -> Option<Throttled> {
        let seconds = self.began.elapsed().as_secs_f64();
        let run = self.quota.throttling()?.since(self.before);
        Throttled::of(&self.quota, run, seconds)
    }
}

impl Throttled {
    fn of(quota: &Quota, run: Throttling, seconds: f64) -> Option<Throttled> {
        (run.throttled_periods > 0 && run.periods > 0).then(|| Throttled {
            cpus: quota.cpus(),
            fitting: quota.threads(),
            periods: (run.throttled_periods as f64 / run.periods as f64).min(1.0),
            processors: run.throttled_nanos as f64 / 1e9 / seconds.max(1e-9),
        })
    }

    /// About teams of `threads` threads in all, in as many `processes`, on at most `allowed` processors.
    pub(crate) fn of_teams(&self, threads: usize, processes: usize, allowed: usize) -> String {
        let share_word = if threads == 1 { "has" } else { "share" };
        let times = self.times(threads.min(allowed));
        let help = match (threads > self.fitting, processes) {
            (false, _) => "give the container or job more processors".to_owned(),
            (true, ..=1) => format!("use {}", number(self.fitting, "thread")),
            (true, _) => format!(
                "use {} in each of {processes} processes",
                number((self.fitting / processes).max(1), "thread")
            ),
        };
        let quota = shown(self.cpus);
        format!("{} {share_word} {quota}: throttled in {times}; {help}", number(threads, "thread"))
    }

    /// About a program of which the number of threads at work is unknown.
    pub(crate) fn of_program(&self) -> String {
        format!(
            "the program has {}: throttled in {} of the periods; use at most {}",
            shown(self.cpus),
            share(self.periods),
            number(self.fitting, "thread")
        )
    }

    /// A processor without a thread does not stand still. So this is the least part of the time.
    fn times(&self, processors: usize) -> String {
        let time = (self.processors / processors.max(1) as f64).min(1.0);
        format!("{} of the periods, {} of the time", share(self.periods), share(time))
    }
}

/// A quota of this many processors, in words.
pub(crate) fn shown(cpus: f64) -> String {
    // Two digits at most, without zeros at the end.
    let rounded = (100.0 * cpus).round() / 100.0;
    match rounded {
        1.0 => "a quota of 1 processor".to_owned(),
        _ => format!("a quota of {rounded} processors"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throttled(fitting: usize, cpus: f64) -> Throttled {
        Throttled { cpus, fitting, periods: 0.68, processors: 26.24 }
    }

    #[test]
    fn the_sentence_has_the_threads_the_quota_and_the_remedy() {
        assert_eq!(
            throttled(4, 4.0).of_teams(64, 1, 64),
            "64 threads share a quota of 4 processors: throttled in 68 % of the periods, 41 % of the time; \
             use 4 threads"
        );
        assert_eq!(
            throttled(4, 3.5).of_teams(64, 2, 64),
            "64 threads share a quota of 3.5 processors: throttled in 68 % of the periods, 41 % of the time; \
             use 2 threads in each of 2 processes"
        );
        assert_eq!(
            throttled(1, 0.5).of_teams(1, 1, 64),
            "1 thread has a quota of 0.5 processors: throttled in 68 % of the periods, 100 % of the time; \
             give the container or job more processors"
        );
        assert_eq!(
            throttled(1, 1.0).of_program(),
            "the program has a quota of 1 processor: throttled in 68 % of the periods; use at most 1 thread"
        );
    }
}
