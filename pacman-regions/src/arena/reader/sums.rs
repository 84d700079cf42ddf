//! Sums over the rows of several threads.

use std::mem::offset_of;

use super::records::word;
use crate::arena::bins::BinTotals;
use crate::arena::cells::{self, EVENTS, SIZES};
use crate::arena::open_part::open_since;
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
    /// The begins of parts that are open, in ticks after the start of the process.
    pub(super) open: Vec<u64>,
}

impl RowSum {
    /// Adds the row of another thread; `None` if the record is too short.
    pub(super) fn add(&mut self, record: &[u64]) -> Option<()> {
        let get = |offset: usize| word(record, offset);
        let counts = record.get(offset_of!(cells::Row, counts) / 8..)?.get(..EVENTS)?;
        if let Some(cpu) = get(offset_of!(cells::Row, cpu)).checked_sub(1) {
            let cpu = u32::try_from(cpu).ok()?;
            // The rows of two threads with this number differ in the context, which counts as a move.
            let elsewhere = self.cpu.is_some_and(|before| before != cpu);
            self.moves = self.moves.saturating_add(u64::from(elsewhere));
            self.cpu = Some(cpu);
        }
        for (sum, offset) in [
            (&mut self.executions, offset_of!(cells::Row, executions)),
            (&mut self.ticks, offset_of!(cells::Row, ticks)),
            (&mut self.moves, offset_of!(cells::Row, moves)),
            (&mut self.counted, offset_of!(cells::Row, counted)),
        ] {
            *sum = sum.saturating_add(get(offset));
        }
        let executions = get(offset_of!(cells::Row, executions));
        self.open.extend(open_since(get(offset_of!(cells::Row, open)), executions));
        self.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
        Some(())
    }
}

/// The sum over all primary threads of a region.
pub(super) struct PrimarySum {
    /// The threads whose executions these are.
    threads: u64,
    /// The timed executions with those that they stand for.
    pub(super) executions: u64,
    pub(super) nested: u64,
    pub(super) ticks: u64,
    pub(super) shortest: u64,
    pub(super) longest: u64,
    /// For each team size: the number of threads, the executions and their ticks.
    pub(super) teams: Vec<(u32, u64, u64)>,
    pub(super) bins: BinTotals,
    sampled: Sampled,
}

/// The executions that stand for others.
#[derive(Clone, Copy, Default)]
struct Sampled {
    /// See [`cells::PrimaryStats`].
    timed: u64,
    counted: u64,
    spread: [f64; 3],
}

impl PrimarySum {
    /// `None` before the first execution. The process may have ended while it added an execution. The
    /// words of that execution which it wrote count as well.
    pub(super) fn of(record: &[u64], bins: BinTotals) -> Option<PrimarySum> {
        const TEAMS: usize = offset_of!(cells::PrimaryStats, teams) / 8;
        const SIZE: usize = size_of::<cells::Size>() / 8;
        let get = |offset: usize| word(record, offset);
        let sizes = || record[TEAMS..TEAMS + SIZE * SIZES].chunks_exact(SIZE);
        let teams: Vec<(u32, u64, u64)> = sizes()
            .map(|size| {
                let get = |offset: usize| size[offset / 8];
                let executions = get(offset_of!(cells::Size, executions))
                    .saturating_add(get(offset_of!(cells::Size, represented)));
                let threads = get(offset_of!(cells::Size, threads));
                let ticks = get(offset_of!(cells::Size, ticks));
                (u32::try_from(threads).unwrap_or(u32::MAX), executions, ticks)
            })
            .filter(|team| team.1 > 0)
            .collect();
        let executions = teams.iter().fold(0u64, |sum, team| sum.saturating_add(team.1));
        let ticks = teams.iter().fold(0u64, |sum, team| sum.saturating_add(team.2));
        let bits = |place: usize| get(offset_of!(cells::PrimaryStats, spread) + 8 * place);
        let sampled = Sampled {
            timed: sizes().fold(0, |sum: u64, size| {
                sum.saturating_add(size[offset_of!(cells::Size, executions) / 8])
            }),
            counted: 0,
            spread: [0, 1, 2].map(|place| f64::from_bits(bits(place))),
        };
        let longest = match get(offset_of!(cells::PrimaryStats, longest)) {
            0 => ticks,
            longest => longest.min(ticks),
        };
        (sampled.timed > 0).then(|| PrimarySum {
            threads: 1,
            executions,
            nested: get(offset_of!(cells::PrimaryStats, nested)).min(executions),
            ticks,
            shortest: get(offset_of!(cells::PrimaryStats, shortest)).min(longest),
            longest,
            teams,
            bins,
            sampled,
        })
    }

    /// Of a region that has ended no execution.
    pub(super) fn none() -> PrimarySum {
        PrimarySum {
            threads: 0,
            executions: 0,
            nested: 0,
            ticks: 0,
            shortest: 0,
            longest: 0,
            teams: Vec::new(),
            bins: BinTotals::default(),
            sampled: Sampled::default(),
        }
    }

    /// Adds executions that were only counted.
    pub(super) fn add_counted(&mut self, executions: u64) {
        self.sampled.counted = self.sampled.counted.saturating_add(executions);
    }

    /// All executions, exactly: timed or not.
    pub(super) fn all(&self) -> u64 {
        self.sampled.timed.saturating_add(self.sampled.counted)
    }

    /// The factor from the executions that the timed ones stand for to all of them: the last block of a
    /// thread may have ended early.
    pub(super) fn factor(&self) -> f64 {
        if self.executions > 0 { self.all() as f64 / self.executions as f64 } else { 1.0 }
    }

    /// The timed executions, and the standard error of the sum of all ticks; `None` if all were timed.
    pub(super) fn sampling(&self) -> Option<(u64, f64)> {
        let Sampled { timed, counted, spread: [squares, linear, quadratic] } = self.sampled;
        let mean = self.ticks as f64 / self.executions as f64;
        let variance = quadratic - 2.0 * mean * linear + mean * mean * squares;
        let error = variance.max(0.0).sqrt() * self.factor();
        (counted > 0).then(|| (timed, if error.is_finite() { error } else { 0.0 }))
    }

    /// The most executions that a member of the teams can have had.
    ///
    /// A process may have ended between the row of an execution and the region's sum. So the row may have an
    /// execution more for each thread that starts teams. It has many more if the execution stands for
    /// others that were to follow; those never ran.
    pub(super) fn most_of_a_row(&self) -> u64 {
        let under_way = if self.sampled.counted > 0 { 0 } else { self.threads };
        self.all().saturating_add(under_way)
    }

    pub(super) fn merge(&mut self, other: &PrimarySum) {
        self.threads = self.threads.saturating_add(other.threads);
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
        let (own, more) = (&mut self.sampled, &other.sampled);
        own.timed = own.timed.saturating_add(more.timed);
        own.counted = own.counted.saturating_add(more.counted);
        own.spread.iter_mut().zip(more.spread).for_each(|(sum, more)| *sum += more);
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
    let seconds = |ticks: &[u64], scale: f64| -> Vec<f64> {
        let used = ticks.iter().rposition(|&ticks| ticks > 0).map_or(0, |last| last + 1);
        ticks[..used].iter().map(|&ticks| ticks as f64 * scale).collect()
    };
    let rows = rows.into_iter().map(|(region, held)| {
        let held = held.clone().folded(shift);
        let scale = scale * primary_stats[region].factor();
        let seconds = |ticks| seconds(ticks, scale);
        let (seconds, thread_seconds) = (seconds(&held.ticks), seconds(&held.thread_ticks));
        TimelineRow { region, seconds, thread_seconds }
    });
    Timeline { rows: rows.collect(), bin: (1u64 << shift) as f64 * scale }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::tests::words_of;
    use crate::arena::{CurrentBin, PrimaryStats};

    /// The sum of a thread that timed executions of these ticks and weights, and only counted others.
    fn sum(timed: &[(u64, u32)], counted: u64) -> PrimarySum {
        let (stats, latest) = (PrimaryStats::unrecorded(), CurrentBin::none());
        for &(ticks, weight) in timed {
            // SAFETY: `latest` belongs to this record.
            unsafe { stats.add_weighted(&latest, 0, ticks, 2, weight) };
        }
        let words = words_of(&stats);
        let bins = offset_of!(cells::PrimaryStats, bins) / 8;
        let mut sum = PrimarySum::of(&words, BinTotals::of(&words[bins..])).expect("executions");
        sum.add_counted(counted);
        sum
    }

    #[test]
    fn executions_are_exact_and_the_error_is_that_of_the_sample() {
        let whole = sum(&[(10, 1), (30, 1)], 0);
        assert_eq!((whole.all(), whole.factor(), whole.sampling()), (2, 1.0, None));
        // Two blocks of four, of which the second ended after three executions.
        let mut sampled = sum(&[(10, 4), (30, 4)], 5);
        assert_eq!((sampled.all(), sampled.ticks, sampled.executions), (7, 160, 8));
        assert_eq!(sampled.factor(), 7.0 / 8.0);
        let (timed, error) = sampled.sampling().expect("some were skipped");
        // The mean is 20 ticks, and each block adds 4 × 3 × 10².
        assert_eq!((timed, error), (2, 2400f64.sqrt() * 7.0 / 8.0));
        sampled.merge(&sum(&[(20, 1)], 0));
        assert_eq!((sampled.all(), sampled.executions, sampled.ticks), (8, 9, 180));
        let even = sum(&[(20, 4), (20, 4)], 6).sampling();
        assert_eq!(even, Some((2, 0.0)), "even executions have no error");
    }

    #[test]
    fn weights_reach_bins_and_teams() {
        let sampled = sum(&[(10, 4), (30, 2)], 4);
        assert_eq!(sampled.teams, [(2, 6, 100)]);
        assert_eq!(sampled.bins.ticks.iter().sum::<u64>(), 100);
        assert_eq!(sampled.bins.thread_ticks.iter().sum::<u64>(), 200);
        assert_eq!((sampled.shortest, sampled.longest), (10, 30));
    }
}
