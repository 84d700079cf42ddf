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
    /// The recent ticks of an execution, and those that timing one usually takes.
    ticks: f64,
    cost: f64,
    random: u64,
}

impl Default for Sampler {
    fn default() -> Sampler {
        Sampler { block: 1, rest: 0, seen: 0, ticks: 0.0, cost: 0.0, random: 0 }
    }
}

/// Executions that are timed in any case: the first ones enter threads and rows. They are few, because a short
/// program with many regions pays for them whatever its budget is.
const FIRST: u32 = 4;
/// The longest block.
const LONGEST: f64 = 4096.0;
/// The part of the latest cost in the usual one, where it is higher.
const LATEST: f64 = 1.0 / 16.0;

impl Sampler {
    /// The executions that the timed one of the block stands for.
    pub(crate) fn weight(&self) -> u32 {
        self.block
    }

    /// An execution took `ticks`, and timing it `cost`. Answers the usual cost.
    pub(crate) fn timed(&mut self, ticks: u64, cost: u64) -> u64 {
        if self.seen == 0 {
            // A tick count is a seed that no other run has.
            self.random = ticks ^ cost.rotate_left(32) ^ std::ptr::from_ref(self).addr() as u64;
            (self.ticks, self.cost) = (ticks as f64, cost as f64);
        }
        self.seen = (self.seen + 1).min(FIRST);
        let (ticks, cost) = (ticks as f64, cost as f64);
        self.ticks += (ticks - self.ticks) / f64::from(2 * self.seen);
        // The first executions enter threads and rows, and the thread may lose the processor: neither is
        // the usual cost.
        self.cost = match cost < self.cost {
            true if self.seen < FIRST => cost,
            true => (self.cost + cost) / 2.0,
            false if self.seen < FIRST => self.cost,
            false => self.cost + (cost.min(2.0 * self.cost) - self.cost) * LATEST,
        };
        self.cost as u64
    }

    /// Chooses the next execution to time. Answers the executions to skip before it. Without a budget the
    /// next block has one execution.
    pub(crate) fn choose(&mut self, budget: Option<f64>) -> u32 {
        let block = match budget {
            Some(budget) if self.seen == FIRST => self.cost / (budget * self.ticks.max(1.0)),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate of a series' sum, its standard error as the reader computes it, and the number of
    /// observed executions.
    fn estimate(series: &[u64], cost: u64, budget: f64, seed: u64) -> (f64, f64, u64) {
        let mut sampler = Sampler::default();
        sampler.timed(series[0], cost);
        sampler.random = seed;
        let (mut skips, mut observed) = (0, 0u64);
        let (mut weights, mut sum) = (0.0, 0.0);
        let (mut spread, mut linear, mut square) = (0.0, 0.0, 0.0);
        for &ticks in series {
            if skips > 0 {
                skips -= 1;
                continue;
            }
            let weight = f64::from(sampler.weight());
            let (time, more) = (ticks as f64, weight * (weight - 1.0));
            observed += 1;
            (weights, sum) = (weights + weight, sum + weight * time);
            (spread, linear, square) =
                (spread + more, linear + more * time, square + more * time * time);
            sampler.timed(ticks, cost);
            skips = sampler.choose(Some(budget));
        }
        let (scale, mean) = (series.len() as f64 / weights, sum / weights);
        let variance = square - 2.0 * mean * linear + mean * mean * spread;
        (sum * scale, variance.max(0.0).sqrt() * scale, observed)
    }

    fn draws(seed: u64) -> impl FnMut(u32) -> u64 {
        let mut source = Sampler { random: seed, ..Sampler::default() };
        move |limit| u64::from(source.below(limit))
    }

    #[test]
    fn estimates_have_no_bias_and_state_their_error() {
        let length = 40_000u64;
        let mut draw = draws(7);
        let noise: Vec<u64> = (0..length).map(|_| 4_000 + draw(4_000)).collect();
        // Periods that a fixed stride would follow: every 2nd, 16th, 64th and 100th is long.
        let periodic = |period: u64| -> Vec<u64> {
            (0..length).map(|at| if at % period == 0 { 60_000 } else { 3_000 }).collect()
        };
        let drift: Vec<u64> = (0..length).map(|at| 2_000 + at / 4).collect();
        let phases: Vec<u64> =
            (0..length).map(|at| if at / 5_000 % 2 == 0 { 2_000 } else { 30_000 }).collect();
        let all = [noise, periodic(2), periodic(16), periodic(64), periodic(100), drift, phases];
        for (number, series) in all.iter().enumerate() {
            let truth = series.iter().sum::<u64>() as f64;
            let runs = 400;
            let (mut bias, mut stated, mut within, mut most) = (0.0, 0.0, 0, 0);
            for seed in 0..runs {
                let (estimated, error, observed) = estimate(series, 1_500, 0.01, seed * 77 + 1);
                bias += (estimated - truth) / truth / runs as f64;
                stated += error / truth / runs as f64;
                within += u64::from((estimated - truth).abs() <= 3.0 * error);
                most = most.max(observed);
            }
            // The mean of the runs is as much more exact than one of them.
            let expected = stated / (runs as f64).sqrt();
            assert!(bias.abs() < 4.0 * expected, "series {number}: off by {bias} on average");
            assert!(
                within * 100 >= 97 * runs,
                "series {number}: {within} of {runs} within 3 errors"
            );
            assert!(most < length / 3, "series {number}: {most} observed");
        }
    }

    #[test]
    fn observing_stays_within_the_budget() {
        for (ticks, cost, budget) in [(3_000, 900, 0.01), (900, 1_200, 0.02), (200_000, 900, 0.01)]
        {
            let series = vec![ticks; 50_000];
            let (estimated, error, observed) = estimate(&series, cost, budget, 5);
            let spent = (observed * cost) as f64 / (ticks * 50_000) as f64;
            // The first ones and the rounding of the block come on top.
            assert!(spent < 1.02 * budget + 0.001, "{spent} of {budget}");
            assert!((estimated - (ticks * 50_000) as f64).abs() < 1.0, "an even series is exact");
            assert!(error < 1.0, "{error}");
            if cost as f64 <= budget * ticks as f64 {
                assert_eq!(observed, 50_000, "an affordable region is observed always");
            }
        }
    }

    #[test]
    fn a_lost_processor_and_the_first_entries_are_not_the_usual_cost() {
        let mut sampler = Sampler::default();
        for cost in [80_000, 5_000, 700, 600, 9_000_000, 650, 600, 600, 600] {
            sampler.timed(100_000, cost);
        }
        assert!((600..1_000).contains(&sampler.timed(100_000, 600)), "{sampler:?}");
        assert!(sampler.timed(100_000, 9_000_000) < 1_200);
        assert_eq!(sampler.choose(Some(0.01)), 0, "0.6 % is within the budget");
        // A program's own change has to show within some executions.
        let last = (0..100).map(|_| sampler.timed(100_000, 5_000)).last();
        assert!(last > Some(4_500), "{sampler:?}");
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
