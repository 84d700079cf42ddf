//! Sums over the rows of several threads.

use std::mem::offset_of;

use super::records::word;
use crate::arena::bins::BinTotals;
use crate::arena::cells::{self, EVENTS, SIZES};
use crate::{Timeline, TimelineRow};

/// The sum of the rows of one region and thread number.
#[derive(Default)]
pub(super) struct RowSum {
    pub(super) executions: u64,
    pub(super) ticks: u64,
    pub(super) cpu: Option<u32>,
    pub(super) moves: u64,
    pub(super) counted: u64,
    pub(super) counts: [u64; EVENTS],
}

/// The sum over all primary threads of a region.
pub(super) struct PrimarySum {
    pub(super) executions: u64,
    pub(super) nested: u64,
    pub(super) ticks: u64,
    pub(super) shortest: u64,
    pub(super) longest: u64,
    /// For each team size: the number of threads, the executions and their ticks.
    pub(super) teams: Vec<(u32, u64, u64)>,
    pub(super) bins: BinTotals,
}

impl PrimarySum {
    /// `None` before the first execution. The process may have ended while it added an execution. The
    /// words of that execution which it wrote count as well.
    pub(super) fn of(record: &[u64], bins: BinTotals) -> Option<PrimarySum> {
        const TEAMS: usize = offset_of!(cells::PrimaryStats, teams) / 8;
        let get = |offset: usize| word(record, offset);
        let teams: Vec<(u32, u64, u64)> = record[TEAMS..TEAMS + 3 * SIZES]
            .chunks_exact(3)
            .filter(|size| size[1] > 0)
            .map(|size| (u32::try_from(size[0]).unwrap_or(u32::MAX), size[1], size[2]))
            .collect();
        let executions = teams.iter().fold(0u64, |sum, team| sum.saturating_add(team.1));
        let ticks = teams.iter().fold(0u64, |sum, team| sum.saturating_add(team.2));
        let longest = match get(offset_of!(cells::PrimaryStats, longest)) {
            0 => ticks,
            longest => longest.min(ticks),
        };
        (executions > 0).then(|| PrimarySum {
            executions,
            nested: get(offset_of!(cells::PrimaryStats, nested)).min(executions),
            ticks,
            shortest: get(offset_of!(cells::PrimaryStats, shortest)).min(longest),
            longest,
            teams,
            bins,
        })
    }

    pub(super) fn merge(&mut self, other: &PrimarySum) {
        self.executions = self.executions.saturating_add(other.executions);
        self.nested = self.nested.saturating_add(other.nested);
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        for &(threads, executions, ticks) in &other.teams {
            match self.teams.iter_mut().find(|team| team.0 == threads) {
                Some(team) => {
                    team.1 = team.1.saturating_add(executions);
                    team.2 = team.2.saturating_add(ticks);
                }
                None => self.teams.push((threads, executions, ticks)),
            }
        }
        let shift = self.bins.shift.max(other.bins.shift);
        self.bins = self.bins.clone().folded(shift);
        self.bins.merge(&other.bins.clone().folded(shift));
    }
}

/// The timeline of regions that ran outside of others, in bins of one length.
pub(super) fn timeline(primary_stats: &[&PrimarySum], scale: f64) -> Timeline {
    let rows: Vec<(usize, &BinTotals)> = primary_stats
        .iter()
        .enumerate()
        .filter(|(_, sum)| sum.bins.ticks.iter().any(|&ticks| ticks > 0))
        .map(|(region, sum)| (region, &sum.bins))
        .collect();
    let shift = rows.iter().map(|(_, held)| held.shift).max().unwrap_or(0);
    let seconds = |ticks: &[u64]| -> Vec<f64> {
        let used = ticks.iter().rposition(|&ticks| ticks > 0).map_or(0, |last| last + 1);
        ticks[..used].iter().map(|&ticks| ticks as f64 * scale).collect()
    };
    let rows = rows.into_iter().map(|(region, held)| {
        let held = held.clone().folded(shift);
        let (seconds, thread_seconds) = (seconds(&held.ticks), seconds(&held.thread_ticks));
        TimelineRow { region, seconds, thread_seconds }
    });
    Timeline { rows: rows.collect(), bin: (1u64 << shift) as f64 * scale }
}
