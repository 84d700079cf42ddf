//! A control group's quota of CPU time during a run, and a sentence about it.

use serde::{Deserialize, Serialize};

use crate::words::share;
use pacman_events::plural::number;

/// The kernel's account of a control group with a quota, at the start and at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupAccount {
    /// Tells the group from all others, on all machines.
    pub group: String,
    /// The quota in processors.
    pub cpus: f64,
    /// The threads for which it leaves something to do.
    pub fitting: usize,
    /// Of the run.
    pub seconds: f64,
    /// At the start.
    pub before: Totals,
    /// At the end.
    pub after: Totals,
}

/// Totals since the group was made: periods, those in which it was throttled, and nanoseconds for which processors stood
/// still.
pub type Totals = [u64; 3];

/// A group that stood still during the run, because it had used up its quota.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttled {
    /// The quota in processors.
    cpus: f64,
    /// The threads for which it leaves something to do.
    fitting: usize,
    /// The part of the periods in which the group was throttled.
    periods: f64,
    /// The time for which a processor stood still, over the time of the run.
    processors: f64,
    /// The observed processes that share it.
    processes: usize,
}

impl GroupAccount {
    /// Takes another run of the same group, within a run of `seconds` that has both.
    pub fn join(&mut self, other: &GroupAccount, seconds: f64) {
        // Totals only grow.
        self.before.iter_mut().zip(other.before).for_each(|(own, other)| *own = other.min(*own));
        self.after.iter_mut().zip(other.after).for_each(|(own, other)| *own = other.max(*own));
        self.seconds = seconds;
    }

    /// `None` if the group was never throttled.
    pub fn throttled(&self) -> Option<Throttled> {
        let of = |at: usize| self.after[at].saturating_sub(self.before[at]);
        let [periods, throttled, nanos] = [of(0), of(1), of(2)];
        (throttled > 0 && periods > 0).then(|| Throttled {
            cpus: self.cpus,
            fitting: self.fitting,
            periods: (throttled as f64 / periods as f64).min(1.0),
            processors: nanos as f64 / 1e9 / self.seconds.max(1e-9),
            processes: 1,
        })
    }
}

impl Throttled {
    /// The same, shared by so many processes.
    pub fn among(self, processes: usize) -> Throttled {
        Throttled { processes: processes.max(1), ..self }
    }

    /// The processes that share it.
    pub fn processes(&self) -> usize {
        self.processes
    }

    /// The processors that the quota leaves.
    pub fn cpus(&self) -> f64 {
        self.cpus
    }

    /// The threads for which it leaves each process something to do.
    pub fn threads(&self) -> usize {
        (self.fitting / self.processes).max(1)
    }

    /// The part of the periods in which the group was throttled.
    pub fn periods(&self) -> f64 {
        self.periods
    }

    /// The least part of the time for which the group's threads stood still, on so many processors.
    pub fn time(&self, processors: usize) -> f64 {
        // A processor without a thread does not stand still.
        (self.processors / processors.max(1) as f64).min(1.0)
    }

    /// About teams of `threads` threads in all, in as many `processes`, on at most `allowed` processors.
    pub fn of_teams(&self, threads: usize, processes: usize, allowed: usize) -> String {
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
    pub fn of_program(&self) -> String {
        format!(
            "the program has {}: throttled in {} of the periods; use at most {}",
            shown(self.cpus),
            share(self.periods),
            number(self.fitting, "thread")
        )
    }

    fn times(&self, processors: usize) -> String {
        let time = self.time(processors);
        format!("{} of the periods, {} of the time", share(self.periods), share(time))
    }

    #[cfg(test)]
    pub(crate) fn made(fitting: usize, cpus: f64, processors: f64) -> Throttled {
        Throttled { cpus, fitting, periods: 0.68, processors, processes: 1 }
    }
}

/// A quota of this many processors, in words.
pub fn shown(cpus: f64) -> String {
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
        Throttled::made(fitting, cpus, 26.24)
    }

    #[test]
    fn two_runs_in_one_group_are_told_once() {
        let account = |before, after| GroupAccount {
            group: "boot 1:2".to_owned(),
            cpus: 0.5,
            fitting: 1,
            seconds: 1.0,
            before,
            after,
        };
        assert_eq!(account([7, 3, 9], [27, 3, 9]).throttled(), None);
        let mut both = account([100, 50, 0], [110, 55, 1_000_000_000]);
        both.join(&account([104, 50, 0], [120, 65, 4_000_000_000]), 2.0);
        let throttled = both.throttled().expect("both were throttled");
        assert_eq!((throttled.periods, throttled.processors), (0.75, 2.0));
    }

    #[test]
    fn sentences_have_the_threads_the_quota_and_the_remedy() {
        let said = [
            throttled(4, 4.0).of_teams(64, 1, 64),
            throttled(4, 3.5).of_teams(64, 2, 64),
            throttled(1, 0.5).of_teams(1, 1, 64),
            throttled(1, 1.0).of_program(),
        ];
        let said = said.join("\n") + "\n";
        pacman_suite::snapshot(env!("CARGO_MANIFEST_DIR"), "snapshots/quota.txt", &said);
    }
}
