//! Executions that had not ended when the process did.

use pacman_regions::{Ending, OpenPart, Region};

use super::states::SiteReport;
use crate::words::{seconds, share};
use pacman_events::plural::number;

/// An execution of a region without its end. No other figure has it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::run) struct OpenExecution {
    /// The time so far of the thread that was in it for longest.
    pub(in crate::run) seconds: f64,
    pub(in crate::run) threads: Vec<OpenThread>,
}

/// A thread that was in such an execution.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::run) struct OpenThread {
    pub(in crate::run) thread: u32,
    /// From the begin of its part to the end of the process.
    pub(in crate::run) seconds: f64,
    /// The waits that had ended: the index of the site, their number and their time.
    pub(in crate::run) waits: Vec<(usize, u64, f64)>,
}

impl OpenExecution {
    /// `None` if no execution of the region was open at the end of the process, `end` seconds after its start.
    pub(super) fn of(region: &Region, end: f64) -> Option<OpenExecution> {
        let thread = |part: &OpenPart| OpenThread {
            thread: part.thread,
            seconds: (end - part.since).max(0.0),
            waits: part.waits.iter().map(|wait| (wait.site, wait.count, wait.seconds)).collect(),
        };
        let threads: Vec<OpenThread> = region.open.iter().map(thread).collect();
        let seconds = threads.iter().map(|thread| thread.seconds).fold(0.0, f64::max);
        (!threads.is_empty()).then_some(OpenExecution { seconds, threads })
    }

    /// The construct at which the threads waited for longest, and its part of their time.
    fn worst(&self) -> Option<(usize, f64)> {
        let all: f64 = self.threads.iter().map(|thread| thread.seconds).sum();
        let waits = || self.threads.iter().flat_map(|thread| &thread.waits);
        let of =
            |site: usize| -> f64 { waits().filter(|wait| wait.0 == site).map(|wait| wait.2).sum() };
        let sums = waits().map(|wait| (wait.0, of(wait.0) / all));
        sums.max_by(|one, other| one.1.total_cmp(&other.1)).filter(|worst| worst.1 > 0.0)
    }

    /// The sentence about it, in the region `name`.
    pub(super) fn note(&self, name: &str, ending: Ending, sites: &[SiteReport]) -> String {
        let when = match ending {
            Ending::Running => "this was written",
            _ => "the process ended",
        };
        let waited = self.worst().and_then(|(site, part)| {
            let site = sites.get(site)?;
            let cause = site.site.cause.word();
            Some(format!("; {} of their time in waits: {cause}, {}", share(part), site.place()))
        });
        format!(
            "{name}: an execution was open when {when}: {} so far on {}{}; no other figure has it",
            seconds(self.seconds),
            number(self.threads.len(), "thread"),
            waited.unwrap_or_default()
        )
    }
}
