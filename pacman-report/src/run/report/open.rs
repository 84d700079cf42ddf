//! Executions that had not ended when the process did.

use std::collections::BTreeMap;

use pacman_regions::{Ending, OpenPart, Region};
use serde::Serialize;

use super::states::{SiteReport, Wait};
use crate::document::nanoseconds;
use crate::rows::Rows;
use crate::words::{seconds, share};
use pacman_events::plural::number;

/// An execution of a region without its end. No other figure has it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct OpenExecution {
    /// Seconds so far, of the thread that was in it for longest.
    #[serde(rename = "time_s", serialize_with = "nanoseconds")]
    pub(in crate::run) seconds: f64,
    /// The threads that were in it.
    #[serde(rename = "open_threads")]
    pub(in crate::run) threads: Rows<OpenThread>,
}

/// A thread that was in such an execution.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct OpenThread {
    /// Number in the team.
    pub(in crate::run) thread: u32,
    /// Seconds from the begin of its part to the end of the process.
    #[serde(rename = "time_s", serialize_with = "nanoseconds")]
    pub(in crate::run) seconds: f64,
    /// The waits that had ended by construct, by its index in `sites`.
    #[serde(rename = "open_waits")]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, Wait>"))]
    waits: BTreeMap<usize, Wait>,
}

impl OpenExecution {
    /// `None` if no execution of the region was open at the end of the process, `end` seconds after its start.
    pub(super) fn of(region: &Region, end: f64) -> Option<OpenExecution> {
        let thread = |part: &OpenPart| OpenThread {
            thread: part.thread,
            seconds: (end - part.since).max(0.0),
            waits: part.waits.iter().map(|wait| (wait.site, wait.into())).collect(),
        };
        let threads: Vec<OpenThread> = region.open.iter().map(thread).collect();
        let seconds = threads.iter().map(|thread| thread.seconds).fold(0.0, f64::max);
        (!threads.is_empty()).then_some(OpenExecution { seconds, threads: Rows(threads) })
    }

    /// The construct at which the threads waited for longest, and its part of their time.
    fn worst(&self) -> Option<(usize, f64)> {
        let threads = &self.threads.0;
        let all: f64 = threads.iter().map(|thread| thread.seconds).sum();
        let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
        for (site, wait) in threads.iter().flat_map(|thread| &thread.waits) {
            *sums.entry(*site).or_default() += wait.seconds / all;
        }
        sums.into_iter()
            .max_by(|one, other| one.1.total_cmp(&other.1))
            .filter(|worst| worst.1 > 0.0)
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
            number(self.threads.0.len(), "thread"),
            waited.unwrap_or_default()
        )
    }
}
