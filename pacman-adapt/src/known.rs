//! The bound of an execution's additional cost, from the measurements of a phase.

use super::estimate::Estimate;
use super::measured::Measured;
use super::table::CandidateTable;
use crate::predict::Configuration;

/// The measurements of a phase, read only.
pub(super) struct Known<'a> {
    pub(super) all: &'a [Configuration],
    pub(super) default: usize,
    pub(super) table: &'a CandidateTable,
    pub(super) records: &'a [Estimate],
    pub(super) measured: &'a Measured,
    /// The costs of an earlier run over the default's. Empty without memory.
    pub(super) recalled: &'a [Option<f64>],
    /// The exponent of time with which costs grow.
    pub(super) cost_exponent: i32,
    /// By candidate; empty without predictions.
    pub(super) expected: &'a [Option<Expected>],
}

/// A predictor's expectation of an execution's cost, and the ends of its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Expected {
    pub(super) low: f64,
    pub(super) cost: f64,
    pub(super) high: f64,
}

/// The greatest error of a trusted prediction, in half-widths of its 90 % interval. One in twenty
/// exceeds the interval. With a normal distribution, one in two thousand exceeds twice its
/// half-width.
const BEYOND: f64 = 2.0;

impl Expected {
    /// The upper limit of the cost, if the prediction is trusted.
    pub(super) fn most(self) -> f64 {
        self.cost + (self.high - self.cost) * BEYOND
    }
}

/// Upper limit of one thread's time over the busy time of all threads together. One thread has the
/// caches of only one core.
const SLACK: f64 = 1.05;

impl Known<'_> {
    pub(super) fn level(&self, at: usize) -> f64 {
        self.records[at].level()
    }

    /// Whether this run itself has measured it.
    pub(super) fn is_seen(&self, at: usize) -> bool {
        self.records[at].is_measured()
    }

    /// The time there over the default's, measured in this run or recalled of an earlier one.
    pub(super) fn ratio(&self, at: usize) -> Option<f64> {
        let seen = self.is_seen(at).then(|| self.level(at) / self.level(self.default));
        let ratio = seen.or(self.recalled(at))?;
        Some(if self.cost_exponent == 1 {
            ratio
        } else {
            ratio.powf(1.0 / f64::from(self.cost_exponent))
        })
    }

    /// The most that an execution there may cost beyond one at the default, by the measurements so
    /// far.
    pub(super) fn risk(&self, at: usize) -> f64 {
        let ceiling = self.ceiling(at);
        let most = self.expected(at).map_or(ceiling, |expected| ceiling.min(expected.most()));
        most - self.level(self.default)
    }

    /// The upper bound of an execution's cost at `at`, independent of any predictor.
    ///
    /// A configuration with fewer cores, contexts and nodes loses at most their share of the machine. It
    /// takes at most as long as one thread with the work of all threads. Between two measured
    /// numbers of cores it costs at most as much as the more costly one.
    pub(super) fn ceiling(&self, at: usize) -> f64 {
        // One thread waits for nobody, so its work may be less than the time of all. Several may wait for each
        // other as long as all do.
        let least = if self.all[at].threads() == 1 { 0.0 } else { 1.0 };
        let shrunk = |from: usize| {
            let share = self.share(from, at);
            let alone = self.records[from].parallelism() * SLACK;
            self.level(from) * self.cost(share.min(alone).max(least))
        };
        let (mut most, mut below, mut above) = (f64::INFINITY, None, None);
        for &other in self.measured.all() {
            if self.table.contains(other, at) {
                most = most.min(shrunk(other));
            }
            if self.table.are_in_line(at, other) {
                let side = if other < at { &mut below } else { &mut above };
                // The nearest: the last one below, the first one above.
                if other < at || side.is_none() {
                    *side = Some(self.level(other));
                }
            }
        }
        below.zip(above).map_or(most, |(below, above)| most.min(below.max(above)))
    }

    /// The cost of an execution that takes `times` another's time, over its cost.
    #[inline]
    fn cost(&self, times: f64) -> f64 {
        if self.cost_exponent == 1 { times } else { times.powi(self.cost_exponent) }
    }

    pub(super) fn recalled(&self, at: usize) -> Option<f64> {
        self.recalled.get(at).copied().flatten()
    }

    pub(super) fn expected(&self, at: usize) -> Option<Expected> {
        self.expected.get(at).copied().flatten()
    }

    /// Whether `two` leaves out more than `one` of all that `one` leaves out of the default, cores or
    /// contexts.
    pub(super) fn is_further(&self, one: usize, two: usize) -> bool {
        let more = |part: fn(Configuration) -> Option<u32>| {
            let [default, one, two] = [self.default, one, two].map(|at| part(self.all[at]));
            one == default || two < one
        };
        self.table.contains(one, two) && more(Configuration::cores) && more(Configuration::per_core)
    }

    /// The factor by which `large` has more of the machine than `small`: contexts, or the memory bandwidth of
    /// nodes.
    fn share(&self, large: usize, small: usize) -> f64 {
        let (large, small) = (self.table.row(large), self.table.row(small));
        let contexts = large.capacity / small.capacity;
        contexts.max(f64::from(large.nodes) / f64::from(small.nodes))
    }
}
