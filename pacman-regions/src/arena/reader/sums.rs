//! Sums over the rows of several threads.

use std::mem::offset_of;

use super::records::word;
use crate::arena::bins::BinTotals;
use crate::arena::cells::{self, EVENTS, SIZES};
use crate::arena::open_part::open_since;
use crate::arena::thread::Untimed;
use crate::{Sampling, Timeline, TimelineRow};

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
///
/// Executions and their ticks are exact. Those of teams and threads are of the timed executions and of others
/// that they stand for.
pub(super) struct PrimarySum {
    /// The threads whose executions these are.
    pub(super) starters: u64,
    pub(super) nested: u64,
    pub(super) within: u64,
    nested_ticks: u64,
    shortest: u64,
    longest: u64,
    /// The timed executions and their ticks.
    timed: (u64, u64),
    /// Those that are not timed.
    untimed: (u64, u64),
    /// Those of them for which no timed one stands.
    unlike: (u64, u64),
    /// The executions for which the timed ones stand, with themselves.
    represented: (u64, u64),
    /// For each team size: the number of threads, and the executions and ticks as in `represented`.
    pub(super) teams: Vec<(u32, u64, u64)>,
    pub(super) bins: BinTotals,
    squares: f64,
    /// The cost of timing an execution, times the timed executions.
    cost: f64,
}

/// The root of ln(2 / 0.05) / 2. Divided by the root of n, it is the deviation that the mean of n values between 0
/// and 1 exceeds in at most 5 of 100 cases (Hoeffding's inequality).
pub(in crate::arena) const DEVIATION: f64 = 1.358_102;

fn plus(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.saturating_add(other.0), one.1.saturating_add(other.1))
}

impl PrimarySum {
    /// `None` before the first execution. The process may have ended while it added an execution. The
    /// words of that execution which it wrote count as well.
    pub(super) fn of(record: &[u64], bins: BinTotals) -> Option<PrimarySum> {
        const TEAMS: usize = offset_of!(cells::PrimaryStats, teams) / 8;
        const SIZE: usize = size_of::<cells::Size>() / 8;
        let get = |offset: usize| word(record, offset);
        let (mut timed, mut represented, mut teams) = ((0, 0), (0, 0), Vec::new());
        for size in record[TEAMS..TEAMS + SIZE * SIZES].chunks_exact(SIZE) {
            let get = |offset: usize| size[offset / 8];
            let own =
                (get(offset_of!(cells::Size, executions)), get(offset_of!(cells::Size, ticks)));
            let others = (
                get(offset_of!(cells::Size, represented)),
                get(offset_of!(cells::Size, represented_ticks)),
            );
            let all = plus(own, others);
            (timed, represented) = (plus(timed, own), plus(represented, all));
            if all.0 > 0 {
                let threads = get(offset_of!(cells::Size, threads));
                teams.push((u32::try_from(threads).unwrap_or(u32::MAX), all.0, all.1));
            }
        }
        let longest = match get(offset_of!(cells::PrimaryStats, longest)) {
            0 => timed.1,
            longest => longest.min(timed.1),
        };
        let nested = get(offset_of!(cells::PrimaryStats, nested));
        (timed.0 > 0).then(|| PrimarySum {
            starters: 1,
            nested,
            within: get(offset_of!(cells::PrimaryStats, within)).min(nested),
            nested_ticks: get(offset_of!(cells::PrimaryStats, nested_ticks)),
            shortest: get(offset_of!(cells::PrimaryStats, shortest)).min(longest),
            longest,
            timed,
            untimed: (0, 0),
            unlike: (0, 0),
            represented,
            teams,
            bins,
            squares: f64::from_bits(get(offset_of!(cells::PrimaryStats, squares))),
            cost: get(offset_of!(cells::PrimaryStats, cost)) as f64 * timed.0 as f64,
        })
    }

    /// Of a region that has ended no execution.
    pub(super) fn none() -> PrimarySum {
        PrimarySum {
            starters: 0,
            nested: 0,
            within: 0,
            nested_ticks: 0,
            shortest: 0,
            longest: 0,
            timed: (0, 0),
            untimed: (0, 0),
            unlike: (0, 0),
            represented: (0, 0),
            teams: Vec::new(),
            bins: BinTotals::default(),
            squares: 0.0,
            cost: 0.0,
        }
    }

    /// Adds executions that were not timed.
    pub(super) fn add_untimed(&mut self, record: &[u64]) {
        let get = |offset: usize| word(record, offset);
        let untimed = (get(offset_of!(Untimed, executions)), get(offset_of!(Untimed, ticks)));
        let unlike = (get(offset_of!(Untimed, unlike)), get(offset_of!(Untimed, unlike_ticks)));
        self.untimed = plus(self.untimed, untimed);
        self.unlike = plus(self.unlike, (unlike.0.min(untimed.0), unlike.1.min(untimed.1)));
        if let shortest @ 1.. = get(offset_of!(Untimed, shortest)) {
            self.shortest = self.shortest.min(shortest);
        }
        self.longest = self.longest.max(get(offset_of!(Untimed, longest)).min(untimed.1));
    }

    /// All executions, timed or not.
    pub(super) fn all(&self) -> u64 {
        self.timed.0.saturating_add(self.untimed.0)
    }

    /// The ticks of all outermost executions, timed or not.
    pub(super) fn ticks(&self) -> u64 {
        self.timed.1.saturating_add(self.untimed.1)
    }

    /// The ticks of all executions inside no other region.
    pub(super) fn outer_ticks(&self) -> u64 {
        self.ticks().saturating_sub(self.nested_ticks)
    }

    /// The ticks of the shortest and of the longest execution.
    pub(super) fn extremes(&self) -> (u64, u64) {
        (self.shortest.min(self.longest), self.longest)
    }

    fn is_sampled(&self) -> bool {
        self.represented != self.timed || self.untimed.0 > 0
    }

    /// The factor from the executions that the timed ones stand for to all of them.
    pub(super) fn factor(&self) -> f64 {
        match self.is_sampled() && self.represented.0 > 0 {
            true => self.all() as f64 / self.represented.0 as f64,
            false => 1.0,
        }
    }

    /// The factor from the ticks of the executions that the timed ones stand for to the exact sum.
    pub(super) fn time_factor(&self) -> f64 {
        match self.is_sampled() && self.represented.1 > 0 {
            true => self.ticks() as f64 / self.represented.1 as f64,
            false => 1.0,
        }
    }

    /// The factor from the ticks in the bins to all that belong there: those of the latest executions that are not
    /// timed are missing.
    fn bin_factor(&self) -> f64 {
        let held = self.bins.ticks.iter().fold(0u64, |sum, ticks| sum.saturating_add(*ticks));
        match self.untimed.0 > 0 && held > 0 {
            true => self.outer_ticks() as f64 / held as f64,
            false => 1.0,
        }
    }

    /// The sample of timed executions; `None` if all were timed.
    pub(super) fn sampling(&self, scale: f64) -> Option<Sampling> {
        let cost = self.cost / self.timed.0 as f64 * scale;
        (self.untimed.0 > 0).then(|| Sampling {
            timed: self.timed.0,
            margin: self.margin(),
            cost: (cost > 0.0).then_some(cost),
        })
    }

    /// How far a share of the threads' time may be from the sample's, as a part of that time. The sum of
    ///
    /// - the chance of the draw: a share of an execution is from 0 to 1, and an execution has its time as weight;
    /// - the time of executions that are longer than all that could stand for them: their shares are unknown;
    /// - the difference between the exact time of the others and the time by the sample, which timing itself or the
    ///   draw makes.
    fn margin(&self) -> f64 {
        let (all, sampled) = (self.ticks() as f64, self.represented.1 as f64);
        if all <= 0.0 || sampled <= 0.0 {
            return 1.0;
        }
        let draw = DEVIATION * self.squares.max(0.0).sqrt() / sampled;
        let unlike = self.unlike.1 as f64 / all;
        let alike = all - self.unlike.1 as f64;
        let like =
            self.all().saturating_sub(self.unlike.0) as f64 / self.represented.0.max(1) as f64;
        let by_sample = sampled * like;
        let difference = (alike - by_sample).abs() / alike.max(by_sample);
        let margin = draw + unlike + difference;
        if margin.is_finite() { margin.min(1.0) } else { 1.0 }
    }

    /// The most executions that a member of the teams can have had.
    ///
    /// A process may have ended between the row of an execution and the region's sum. So the row may have an
    /// execution more for each thread that starts teams. It has many more if the execution stands for
    /// others that were to follow; those never ran.
    pub(super) fn most_of_a_row(&self) -> u64 {
        let under_way = if self.untimed.0 > 0 { 0 } else { self.starters };
        self.all().saturating_add(under_way)
    }

    pub(super) fn merge(&mut self, other: &PrimarySum) {
        for (own, more) in [
            (&mut self.starters, other.starters),
            (&mut self.nested, other.nested),
            (&mut self.within, other.within),
            (&mut self.nested_ticks, other.nested_ticks),
        ] {
            *own = own.saturating_add(more);
        }
        for (own, more) in [
            (&mut self.timed, other.timed),
            (&mut self.untimed, other.untimed),
            (&mut self.unlike, other.unlike),
            (&mut self.represented, other.represented),
        ] {
            *own = plus(*own, more);
        }
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        for &(threads, executions, ticks) in &other.teams {
            match self.teams.iter_mut().find(|team| team.0 == threads) {
                Some(team) => (team.1, team.2) = plus((team.1, team.2), (executions, ticks)),
                None => self.teams.push((threads, executions, ticks)),
            }
        }
        self.squares += other.squares;
        self.cost += other.cost;
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
        let scale = scale * primary_stats[region].bin_factor();
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
    use crate::arena::{CurrentBin, PrimaryStats, Thread};

    /// The sum of a thread that timed executions of these ticks and weights. The others took these ticks, and those
    /// above the limit are like none of the timed ones.
    fn sum(timed: &[(u64, u32)], others: &[u64], limit: u64) -> PrimarySum {
        let (stats, latest) = (PrimaryStats::unrecorded(), CurrentBin::none());
        for &(ticks, weight) in timed {
            // SAFETY: `latest` belongs to this record.
            unsafe { stats.add_weighted(&latest, 0, ticks, 2, weight) };
        }
        let words = words_of(&stats);
        let bins = offset_of!(cells::PrimaryStats, bins) / 8;
        let mut sum = PrimarySum::of(&words, BinTotals::of(&words[bins..])).expect("executions");
        let thread = Thread::unrecorded();
        let untimed = &thread.untimed[0];
        for &ticks in others {
            untimed.add(ticks);
            untimed.note(ticks, ticks > limit);
        }
        sum.add_untimed(&words_of(untimed));
        sum
    }

    #[test]
    fn sums_and_numbers_are_exact() {
        let whole = sum(&[(10, 1), (30, 1)], &[], 0);
        assert_eq!((whole.all(), whole.ticks(), whole.factor()), (2, 40, 1.0));
        assert_eq!((whole.time_factor(), whole.sampling(1.0)), (1.0, None));
        // Two blocks of four, of which the second ended after three executions.
        let mut sampled = sum(&[(10, 4), (30, 4)], &[8, 9, 13, 40, 30], u64::MAX);
        assert_eq!((sampled.all(), sampled.ticks()), (7, 40 + 100));
        assert_eq!(sampled.factor(), 7.0 / 8.0);
        assert_eq!(sampled.time_factor(), 140.0 / 160.0);
        assert_eq!(sampled.extremes(), (8, 40));
        assert_eq!(sampled.sampling(1.0).map(|sampling| sampling.timed), Some(2));
        sampled.merge(&sum(&[(20, 1)], &[], 0));
        assert_eq!((sampled.all(), sampled.ticks(), sampled.starters), (8, 160, 2));
    }

    #[test]
    fn the_margin_has_the_draw_the_unlike_and_the_difference() {
        let margin = |sum: &PrimarySum| sum.sampling(1.0).expect("a sample").margin;
        let timed = vec![(20, 101); 400];
        let even = sum(&timed, &[20; 40_000], 40);
        // As 400 draws.
        assert!((margin(&even) - DEVIATION / 20.0).abs() < 1e-3, "{}", margin(&even));
        // A third of the time is in one execution.
        let mut others = vec![20; 40_000];
        others.push(404_000);
        let rare = sum(&timed, &others, 40);
        assert!((margin(&rare) - margin(&even) - 1.0 / 3.0).abs() < 1e-3, "{}", margin(&rare));
        // The timed ones are a quarter longer.
        let disturbed = sum(&vec![(25, 101); 400], &[20; 40_000], 40);
        let more = margin(&disturbed) - margin(&even);
        assert!((more - 0.2).abs() < 2e-3, "{more}");
        assert!(margin(&sum(&[(20, 1)], &[2_000_000], 40)) > 0.9999);
    }

    #[test]
    fn weights_reach_teams_and_not_bins() {
        let sampled = sum(&[(10, 4), (30, 2)], &[10; 4], u64::MAX);
        assert_eq!(sampled.teams, [(2, 6, 100)]);
        assert_eq!(sampled.bins.ticks.iter().sum::<u64>(), 40);
        assert_eq!(sampled.bin_factor(), 2.0, "the others are not in the bins yet");
    }
}
