//! The choice of the executions of one region.

/// Chooses executions of one region that one thread starts.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    /// The executions of the present block.
    block: u32,
    /// Those of them after the timed one.
    rest: u32,
    /// The timed executions, up to [`FIRST`].
    seen: u32,
    /// The recent ticks of an execution, timed or not.
    ticks: f64,
    /// The ticks that the thread usually takes beside a timed execution.
    beside: f64,
    /// The recent executions of both kinds, for the ticks that timing adds inside of an execution.
    timed: Recent,
    untimed: Recent,
    /// The longest timed execution, less a part for each later one.
    longest: u64,
    /// The executions that were not timed until the latest timed one.
    before: Untimed,
    /// The end of the latest timed one, in ticks since the start of the process, and the size of its team.
    ended: u64,
    threads: u32,
    random: u64,
}

/// A decaying sum of executions.
#[derive(Clone, Copy, Debug)]
struct Recent {
    executions: f64,
    ticks: f64,
}

/// The executions of a region that were not timed so far, and those of them that no timed one stands for. Both
/// with their ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Untimed {
    pub(crate) executions: u64,
    pub(crate) ticks: u64,
    pub(crate) unlike: (u64, u64),
}

/// A timed execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) ticks: u64,
    /// The ticks that the thread took for it beside the execution.
    pub(crate) beside: u64,
    /// The executions that were not timed so far.
    pub(crate) untimed: Untimed,
    /// The begin, in ticks since the start of the process.
    pub(crate) since: u64,
    /// The size of the team.
    pub(crate) threads: u32,
}

impl Default for Sampler {
    fn default() -> Sampler {
        Sampler {
            block: 1,
            rest: 0,
            seen: 0,
            ticks: 0.0,
            beside: 0.0,
            timed: Recent::NONE,
            untimed: Recent::NONE,
            longest: 0,
            before: Untimed::default(),
            ended: 0,
            threads: 1,
            random: 0,
        }
    }
}

/// Executions that are timed in any case: the first ones enter threads and rows. They are few, because a short
/// program with many regions pays for them whatever its budget is.
const FIRST: u32 = 4;
/// The longest block.
const LONGEST: f64 = 4096.0;
/// The part of the latest cost in the usual one, where it is higher.
const LATEST: f64 = 1.0 / 16.0;
/// The executions of either kind that a comparison of their times needs, and those after which older ones count
/// half.
const FEW: f64 = 8.0;
const MANY: f64 = 128.0;
/// The part of the longest timed execution that each later one takes away. So an execution that is longer than all of
/// the latest dozens is like none of them, also if there was one before.
const FADES: u64 = 16;

impl Recent {
    const NONE: Recent = Recent { executions: 0.0, ticks: 0.0 };

    fn add(&mut self, executions: f64, ticks: f64) {
        if self.executions > MANY {
            *self = Recent { executions: self.executions / 2.0, ticks: self.ticks / 2.0 };
        }
        self.executions += executions;
        self.ticks += ticks;
    }

    fn mean(&self) -> Option<f64> {
        (self.executions >= FEW).then(|| self.ticks / self.executions)
    }
}

impl Sampler {
    /// The executions that the timed one of the block stands for.
    pub(crate) fn weight(&self) -> u32 {
        self.block
    }

    /// The most ticks of an execution for which a timed one stands.
    pub(crate) fn limit(&self) -> u64 {
        self.longest.saturating_mul(2)
    }

    /// The size of the latest team.
    pub(crate) fn threads(&self) -> u32 {
        self.threads
    }

    /// The ticks of executions that are not in the timeline yet, and the times between which they were.
    pub(crate) fn before(&self, timed: &Timed) -> Option<(u64, (u64, u64))> {
        let since = timed.untimed.since(self.before);
        let alike = since.ticks.saturating_sub(since.unlike.1);
        (self.seen > 0 && alike > 0).then_some((alike, (self.ended, timed.since)))
    }

    /// An execution was timed. Answers the usual cost of timing one.
    pub(crate) fn timed(&mut self, timed: &Timed) -> u64 {
        let Timed { ticks, beside, untimed, since, threads } = *timed;
        if self.seen == 0 {
            // A tick count is a seed that no other run has.
            let seed = ticks ^ beside.rotate_left(32) ^ std::ptr::from_ref(self).addr() as u64;
            self.random = if self.random == 0 { seed } else { self.random };
            (self.ticks, self.beside) = (ticks as f64, beside as f64);
            // Those of a thread that has ended.
            self.before = untimed;
        }
        self.seen = (self.seen + 1).min(FIRST);
        (self.ended, self.threads) = (since.saturating_add(ticks), threads);
        self.compare(ticks, untimed);
        let faded = self.longest - self.longest / FADES;
        // The first ones make threads, and stand for themselves.
        self.longest = if self.seen < FIRST { ticks } else { faded.max(ticks) };
        let (beside, usual) = (beside as f64, self.beside);
        // The first executions enter threads and rows, and the thread may lose the processor: neither is
        // the usual cost.
        self.beside = match beside < usual {
            true if self.seen < FIRST => beside,
            true => (usual + beside) / 2.0,
            false if self.seen < FIRST => usual,
            false => usual + (beside.min(2.0 * usual) - usual) * LATEST,
        };
        self.cost() as u64
    }

    /// Takes the times since the latest timed execution.
    fn compare(&mut self, ticks: u64, untimed: Untimed) {
        let since = untimed.since(self.before);
        self.before = untimed;
        let executions = (since.executions + 1) as f64;
        let mean = (since.ticks.saturating_add(ticks)) as f64 / executions;
        self.ticks += (mean - self.ticks) / f64::from(2 * self.seen);
        if self.seen == FIRST && self.block > 1 {
            // Delays of a timed execution are left out as those of the others.
            let ticks = ticks.min(self.limit());
            self.timed.add(1.0, ticks as f64);
            let (unlike, unlike_ticks) = since.unlike;
            let alike = (since.executions - unlike.min(since.executions)) as f64;
            self.untimed.add(alike, since.ticks.saturating_sub(unlike_ticks) as f64);
        }
    }

    /// The ticks that timing an execution costs: beside it, and inside of it as the times of both kinds of executions
    /// tell.
    fn cost(&self) -> f64 {
        match (self.timed.mean(), self.untimed.mean()) {
            (Some(timed), Some(untimed)) => self.beside + (timed - untimed).max(0.0),
            // The members' parts take about as long as the work beside.
            _ => 2.0 * self.beside,
        }
    }

    /// Chooses the next execution to time. Answers the executions to skip before it. Without a budget the
    /// next block has one execution.
    pub(crate) fn choose(&mut self, budget: Option<f64>) -> u32 {
        let block = match budget {
            Some(budget) if self.seen == FIRST => self.cost() / (budget * self.ticks.max(1.0)),
            _ => 1.0,
        };
        let rest = self.rest;
        // A disturbed execution must not hide the next thousand.
        let longest = f64::from(2 * self.block).min(LONGEST);
        self.block = block.ceil().clamp(1.0, longest) as u32;
        let before = self.below(self.block);
        self.rest = self.block - 1 - before;
        rest + before
    }

    /// A sampler whose choices are those of `seed`.
    #[cfg(test)]
    pub(super) fn seeded(seed: u64) -> Sampler {
        Sampler { random: seed | 1, ..Sampler::default() }
    }

    /// A random number below `limit`.
    fn below(&mut self, limit: u32) -> u32 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (((mixed >> 32) * u64::from(limit)) >> 32) as u32
    }
}

impl Untimed {
    /// Those after `before`.
    pub(crate) fn since(self, before: Untimed) -> Untimed {
        Untimed {
            executions: self.executions.saturating_sub(before.executions),
            ticks: self.ticks.saturating_sub(before.ticks),
            unlike: (
                self.unlike.0.saturating_sub(before.unlike.0),
                self.unlike.1.saturating_sub(before.unlike.1),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(ticks: u64, beside: u64) -> Timed {
        Timed { ticks, beside, untimed: Untimed::default(), since: 0, threads: 1 }
    }

    /// The timed executions of a series of even ones. Timing one adds `inside` ticks to it, and takes `beside` more.
    fn observed(ticks: u64, (inside, beside): (u64, u64), budget: f64, length: u64) -> u64 {
        let (mut sampler, mut untimed) = (Sampler::default(), Untimed::default());
        let (mut skips, mut observed) = (0, 0);
        for _ in 0..length {
            if skips > 0 {
                skips -= 1;
                (untimed.executions, untimed.ticks) =
                    (untimed.executions + 1, untimed.ticks + ticks);
                continue;
            }
            observed += 1;
            let timed = Timed { untimed, ..timed(ticks + inside, beside) };
            sampler.timed(&timed);
            skips = sampler.choose(Some(budget));
        }
        observed
    }

    #[test]
    fn observing_stays_within_the_budget() {
        for (ticks, cost, budget) in [
            (3_000, (0, 900), 0.01),
            (900, (700, 300), 0.02),
            (3_000, (900, 200), 0.01),
            (200_000, (500, 400), 0.01),
        ] {
            let observed = observed(ticks, cost, budget, 50_000);
            let spent = (observed * (cost.0 + cost.1)) as f64 / (ticks * 50_000) as f64;
            // The first ones and the rounding of the block come on top.
            assert!(spent < 1.03 * budget + 0.001, "{spent} of {budget}");
            if (cost.0 + cost.1) as f64 <= 0.5 * budget * ticks as f64 {
                assert_eq!(observed, 50_000, "an affordable region is timed always");
            } else {
                assert!(spent > 0.9 * budget, "{spent} of {budget}");
            }
        }
    }

    #[test]
    fn a_lost_processor_and_the_first_entries_are_not_the_usual_cost() {
        let mut sampler = Sampler::default();
        for cost in [80_000, 5_000, 700, 600, 9_000_000, 650, 600, 600, 600] {
            sampler.timed(&timed(100_000, cost));
        }
        assert!((1_200..2_000).contains(&sampler.timed(&timed(100_000, 600))), "{sampler:?}");
        assert!(sampler.timed(&timed(100_000, 9_000_000)) < 2_400);
        assert_eq!(sampler.choose(Some(0.02)), 0, "1.2 % is within the budget");
        // A program's own change has to show within some executions.
        let last = (0..100).map(|_| sampler.timed(&timed(100_000, 5_000))).last();
        assert!(last > Some(9_000), "{sampler:?}");
    }

    #[test]
    fn the_longest_execution_is_forgotten() {
        let mut sampler = Sampler::default();
        let short = |sampler: &mut Sampler| _ = sampler.timed(&timed(1_000, 100));
        (0..9).for_each(|_| short(&mut sampler));
        assert_eq!(sampler.limit(), 2_000);
        sampler.timed(&timed(80_000, 100));
        assert_eq!(sampler.limit(), 160_000);
        (0..100).for_each(|_| short(&mut sampler));
        assert_eq!(sampler.limit(), 2_000);
    }

    #[test]
    fn times_before_an_execution_are_told_once() {
        let mut sampler = Sampler::default();
        let at = |since, executions, ticks| Timed {
            untimed: Untimed { executions, ticks, unlike: (0, 0) },
            since,
            ..timed(100, 10)
        };
        // An execution that another thread has left in the record is in its timeline.
        assert_eq!(sampler.before(&at(50, 3, 300)), None);
        sampler.timed(&at(50, 3, 300));
        assert_eq!(sampler.before(&at(900, 7, 720)), Some((420, (150, 900))));
        sampler.timed(&at(900, 7, 720));
        assert_eq!(sampler.before(&at(1_200, 7, 720)), None);
    }

    #[test]
    fn every_place_of_a_block_is_as_likely() {
        let mut places = [0u32; 10];
        let mut sampler = Sampler { random: 3, ..Sampler::default() };
        for _ in 0..100_000 {
            places[sampler.below(10) as usize] += 1;
        }
        assert!(places.iter().all(|count| (9_600..10_400).contains(count)), "{places:?}");
    }
}
