//! Control groups that ranks share, whose quota they used up: each is told once.

use std::collections::{BTreeMap, BTreeSet};

use super::rank_file::RankRun;
use crate::quota::{GroupAccount, Throttled};
use crate::run::report::{ProcessReport, named_ranks, threads_of};

/// The groups of a run, by name.
pub(super) struct Groups {
    all: BTreeMap<String, Group>,
    of_rank: BTreeMap<u32, String>,
}

struct Group {
    account: GroupAccount,
    /// The most threads of each rank.
    threads: BTreeMap<u32, u32>,
    /// The most contexts that one rank might use, and those on which threads were seen.
    contexts: u32,
    seen: BTreeSet<u32>,
    /// The ranks in it.
    ranks: usize,
}

impl Groups {
    pub(super) fn of<'a>(runs: impl Iterator<Item = &'a RankRun> + Clone) -> Groups {
        let mut groups = Groups { all: BTreeMap::new(), of_rank: BTreeMap::new() };
        let with_quota = runs.filter_map(|run| Some((run, run.quota.as_ref()?)));
        // The time in which any rank of the group ran.
        let mut times: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (run, account) in with_quota {
            let (began, end) =
                times.entry(&account.group).or_insert((f64::INFINITY, f64::NEG_INFINITY));
            (*began, *end) = (began.min(run.began), end.max(run.end()));
            let seconds = *end - *began;
            let group = groups.all.entry(account.group.clone()).or_insert_with(|| Group {
                account: account.clone(),
                threads: BTreeMap::new(),
                contexts: 0,
                seen: BTreeSet::new(),
                ranks: 0,
            });
            group.account.join(account, seconds);
            group.ranks += 1;
            groups.of_rank.insert(run.rank.rank, account.group.clone());
        }
        groups
    }

    fn group_of(&self, process: &ProcessReport) -> Option<(&str, u32)> {
        let rank = process.process.rank?.rank;
        Some((self.of_rank.get(&rank)?, rank))
    }

    /// Takes the threads of a process.
    pub(super) fn add(&mut self, process: &ProcessReport) {
        let Some((name, rank)) = self.group_of(process) else { return };
        let name = name.to_owned();
        let Some(group) = self.all.get_mut(&name).filter(|_| process.has_figures()) else { return };
        let threads = group.threads.entry(rank).or_default();
        *threads = threads_of(process).max(*threads);
        group.contexts = group.contexts.max(process.contexts);
        let rows = process.regions.iter().flat_map(|region| &region.threads);
        group.seen.extend(rows.filter_map(|thread| thread.row.cpu));
    }

    /// The loss of a process's group by its quota.
    pub(super) fn throttled(&self, process: &ProcessReport) -> Option<Throttled> {
        let group = self.all.get(self.group_of(process)?.0)?;
        Some(group.account.throttled()?.among(group.ranks))
    }

    /// A line for each group that stood still.
    pub(super) fn lines(&self) -> Vec<String> {
        let groups = self.all.values().filter(|group| !group.threads.is_empty());
        let lines = groups.filter_map(|group| {
            let throttled = group.account.throttled()?;
            let threads: u32 = group.threads.values().sum();
            // Ranks that are bound apart have other contexts each.
            let contexts = (group.contexts as usize).max(group.seen.len());
            let line = throttled.of_teams(threads as usize, group.threads.len(), contexts);
            Some(format!("{}: {line}", named_ranks(group.threads.keys().copied())))
        });
        lines.collect()
    }
}
