//! Programs whose threads had no processor of their own, and why: every format has it from here.

use super::crowd::{self, Crowd, threads_of};
use super::process::ProcessReport;
use crate::quota::Throttled;
use crate::words::share;
use pacman_events::plural::number;

/// A process whose threads could run and had no processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::run) struct Busy {
    /// The part of the time in which threads could run that they ran.
    pub(in crate::run) ran: f64,
    pub(in crate::run) cause: BusyCause,
}

/// The programs that had the processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::run) enum BusyCause {
    /// The threads of the observed processes themselves.
    Crowd(Crowd),
    /// Nobody: a control group stood still, because its quota of this many processors was used up.
    Quota(f64),
    /// Other programs.
    Others,
}

impl Busy {
    /// `None` if the threads of `process` had processors. The `others` are the observed processes.
    pub(in crate::run) fn of<'a>(
        process: &ProcessReport,
        others: impl IntoIterator<Item = &'a ProcessReport>,
    ) -> Option<Busy> {
        let ran = process.processor_share().filter(|_| process.lacks_processors())?;
        let quota = process.throttled.map(|throttled| throttled.cpus());
        let quota = quota.filter(|quota| f64::from(threads_of(process)) > *quota);
        let cause = match (Crowd::around(process, others), quota) {
            (Some(crowd), _) => BusyCause::Crowd(crowd),
            (None, Some(quota)) => BusyCause::Quota(quota),
            (None, None) => BusyCause::Others,
        };
        Some(Busy { ran, cause })
    }

    /// The sentence; `who` is empty, or ` of x (process 7)`.
    pub(in crate::run) fn sentence(&self, who: &str) -> String {
        let ran = format!("they ran {} of the time in which they could run", share(self.ran));
        let (begin, times) =
            (self.cause.begin(who), "Times and waits are in part those of a busy machine");
        match self.cause {
            BusyCause::Others => format!("{begin}: {ran}. {times}: {}.", self.cause.help()),
            _ => format!("{begin}: {ran}. {times}. {}.", self.cause.help()),
        }
    }
}

impl BusyCause {
    fn begin(self, who: &str) -> String {
        match self {
            BusyCause::Crowd(crowd) => format!(
                "There were more threads than processors, {} on {}, so threads{who} had none of their own",
                crowd.threads, crowd.contexts
            ),
            BusyCause::Quota(quota) => format!(
                "A quota of {quota:.1} processors is less than the threads need, so threads{who} had none of their own"
            ),
            BusyCause::Others => format!("Threads{who} had no processor of their own"),
        }
    }

    /// The advice to the user.
    pub(in crate::run) fn help(self) -> String {
        match self {
            BusyCause::Crowd(crowd) => format!(
                "To help: use at most {} in all, by OMP_NUM_THREADS={}; or OMP_WAIT_POLICY=passive, with which threads \
                 that wait give their processor up",
                number(crowd.contexts as usize, "thread"),
                (crowd.contexts as usize / crowd.processes).max(1)
            ),
            BusyCause::Quota(quota) => format!(
                "To help: give the container or job more processors, or use at most {} by OMP_NUM_THREADS",
                number((quota as usize).max(1), "thread")
            ),
            BusyCause::Others => "use fewer threads, or an idle machine".to_owned(),
        }
    }
}

/// A line about the quota that the run used up, and a line for each of these processes whose threads lacked
/// processors for another reason.
pub(super) fn lines(processes: &[ProcessReport], throttled: Option<Throttled>) -> Vec<String> {
    let observed = || processes.iter().filter(|process| process.has_figures());
    let several = observed().count() > 1;
    let line = |process: &ProcessReport| {
        let who = match several {
            true => format!(" of {} (process {})", process.program(), process.process.pid),
            false => String::new(),
        };
        let busy = Busy::of(process, observed())?;
        // The quota has a line of its own, once for all that share it.
        let is_told = matches!(busy.cause, BusyCause::Quota(_));
        (!is_told).then(|| busy.sentence(&who))
    };
    let of_quota = throttled.zip(widest(observed)).map(|(throttled, (crowd, allowed))| {
        throttled.of_teams(crowd.0 as usize, crowd.1, allowed as usize)
    });
    of_quota.into_iter().chain(observed().filter_map(line)).collect()
}

/// The most threads that processes had at one time, and how many processes these were; the most contexts that one
/// of them might use.
fn widest<'a, I: Iterator<Item = &'a ProcessReport>>(
    observed: impl Fn() -> I,
) -> Option<((u32, usize), u32)> {
    let together = |process: &ProcessReport| {
        let meanwhile = observed().filter(|other| crowd::overlap(process, other));
        meanwhile.fold((0, 0), |(threads, count), other| (threads + threads_of(other), count + 1))
    };
    let most = observed().map(together).max()?;
    Some((most, observed().map(|process| process.contexts).max()?))
}

#[cfg(test)]
mod tests {
    use pacman_core::Topology;
    use pacman_regions::{Machine, Scheduling};

    use crate::run::tests::made;

    #[test]
    fn a_quota_that_was_not_used_up_is_no_cause() {
        let threads =
            [1.0, 1.0].map(|busy| made::ThreadSpec { busy, start: 0.0, waits: 0.0, cpu: 0 });
        let mut recording = made::timed(&threads, "critical");
        recording.scheduling = Some(Scheduling { ran: 8.0, delayed: 8.0 });
        let topology = Topology::synthetic("8 cores, 2 threads").expect("a machine");
        let machine = Machine::of(&topology, "Linux".to_owned(), None);
        recording.machine = Some(Machine { quota: Some(1.5), ..machine });
        let report = made::report(&[recording]);
        let [line] = &report.busy[..] else { panic!("{:?}", report.busy) };
        assert!(
            line.starts_with("Threads had no processor of their own: ") && !line.contains("quota"),
            "{line}"
        );
    }
}
