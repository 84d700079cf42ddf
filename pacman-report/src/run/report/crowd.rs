//! Threads of the observed processes that shared processors with each other.

use std::collections::BTreeSet;

use super::ProcessReport;

/// More threads than contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) struct Crowd {
    /// Of the widest team of each process that ran at that time.
    pub(in crate::run) threads: u32,
    pub(in crate::run) contexts: u32,
    pub(in crate::run) processes: usize,
}

impl Crowd {
    /// Counts the threads of `process`, and of the `others` that ran on its host at the same time. `None` if there were
    /// contexts for all, or if `process` ran no region: the first region tells its contexts.
    pub(in crate::run) fn around<'a>(
        process: &ProcessReport,
        others: impl IntoIterator<Item = &'a ProcessReport>,
    ) -> Option<Crowd> {
        let beside = others.into_iter().filter(|other| !is_same(process, other));
        let mut meanwhile: Vec<_> = beside.filter(|other| overlap(process, other)).collect();
        meanwhile.push(process);
        let rows = meanwhile.iter().flat_map(|one| &one.regions).flat_map(|one| &one.threads);
        let cpus: BTreeSet<u32> = rows.filter_map(|thread| thread.row.cpu).collect();
        let contexts = process.contexts;
        // Processes that are bound apart do not share their contexts.
        if cpus.len() > contexts as usize {
            meanwhile = vec![process];
        }
        let threads = meanwhile.iter().map(|one| threads_of(one)).sum();
        let is_crowd = !process.regions.is_empty() && threads > contexts;
        is_crowd.then_some(Crowd { threads, contexts, processes: meanwhile.len() })
    }
}

fn is_same(one: &ProcessReport, other: &ProcessReport) -> bool {
    std::ptr::eq(one, other)
}

/// The threads of the widest team.
pub fn threads_of(process: &ProcessReport) -> u32 {
    let teams = process.regions.iter().flat_map(|region| &region.teams);
    teams.map(|team| team.threads).max().unwrap_or(1)
}

/// Whether both ran on one host at the same time.
pub(super) fn overlap(one: &ProcessReport, other: &ProcessReport) -> bool {
    let (one, other) = (&one.process, &other.process);
    one.host == other.host
        && one.began < other.began + other.seconds
        && other.began < one.began + one.seconds
}
