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
    /// The threads of `process` and of those `others` that ran on its host at the same time; `None` if there were
    /// contexts for all. The contexts are those of the first region, so without a region there are none.
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

    /// What would help.
    pub(in crate::run) fn help(self) -> String {
        let most = match self.contexts {
            1 => "1 thread".to_owned(),
            contexts => format!("{contexts} threads"),
        };
        format!(
            "To help: use at most {most} in all, by OMP_NUM_THREADS={}; or OMP_WAIT_POLICY=passive, with which threads \
             that wait give their processor up",
            (self.contexts as usize / self.processes).max(1)
        )
    }
}

fn is_same(one: &ProcessReport, other: &ProcessReport) -> bool {
    std::ptr::eq(one, other)
}

/// The threads of the widest team.
pub(in crate::run) fn threads_of(process: &ProcessReport) -> u32 {
    let teams = process.regions.iter().flat_map(|region| &region.teams);
    teams.map(|team| team.threads).max().unwrap_or(1)
}

/// Whether both ran on one host at the same time.
fn overlap(one: &ProcessReport, other: &ProcessReport) -> bool {
    let (one, other) = (&one.process, &other.process);
    one.host == other.host
        && one.began < other.began + other.seconds
        && other.began < one.began + one.seconds
}
