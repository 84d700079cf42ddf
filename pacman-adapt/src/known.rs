//! The bound of an execution's additional cost, from the measurements of a phase.

use super::record::Record;
use super::regret_budget::RegretBudget;
use crate::predict::Configuration;

/// The measurements of a phase, read only.
pub(super) struct Known<'a> {
    pub(super) all: &'a [Configuration],
    pub(super) default: usize,
    /// The number of hardware contexts.
    pub(super) contexts: u32,
    pub(super) records: &'a [Record],
    /// The maximum SMT gain: the most that one more context of a core adds, as a part of its first.
    pub(super) max_smt_gain: f64,
    /// The exponent of time with which costs grow.
    pub(super) cost_exponent: i32,
    /// Differences below this part are noise.
    pub(super) margin: f64,
    pub(super) account: &'a RegretBudget,
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

/// The spread of the default's executions that counts for risks at most. A higher one says that its level
/// is unknown, as after a few executions of which some met a disturbance, and not that a sample may cost a
/// multiple of its bound.
const ERRATIC: f64 = 0.5;

impl Known<'_> {
    pub(super) fn best(&self) -> usize {
        let level = |&at: &usize| self.records[at].level();
        let measured = (0..self.all.len()).filter(|&at| self.records[at].is_measured());
        measured.min_by(|a, b| level(a).total_cmp(&level(b))).unwrap_or(self.default)
    }

    pub(super) fn level(&self, at: usize) -> f64 {
        self.records[at].level()
    }

    /// Whether this run itself has measured it.
    fn is_seen(&self, at: usize) -> bool {
        self.records[at].is_measured() && !self.records[at].is_recalled()
    }

    /// The most that an execution there may cost beyond one at the default, by the measurements so
    /// far.
    pub(super) fn risk(&self, at: usize) -> f64 {
        let noise = 2.0 * self.records[self.default].spread().min(ERRATIC);
        let ceiling = self.ceiling(at);
        let most = self.expected(at).map_or(ceiling, |expected| ceiling.min(expected.most()));
        (most - self.level(self.default)) * (1.0 + noise)
    }

    /// The upper bound of an execution's cost at `at`, independent of any predictor.
    ///
    /// A configuration with fewer cores and contexts loses at most their share of the machine. It
    /// takes at most as long as one thread with the work of all threads. Between two measured
    /// numbers of cores it costs at most as much as the more costly one.
    pub(super) fn ceiling(&self, at: usize) -> f64 {
        let measured = || (0..self.all.len()).filter(|&other| self.is_seen(other));
        let shrunk = |from: usize| {
            let share = self.capacity(self.all[from]) / self.capacity(self.all[at]);
            let alone = self.records[from].parallelism() * SLACK;
            self.level(from) * share.min(alone).max(1.0).powi(self.cost_exponent)
        };
        let from_above = measured()
            .filter(|&from| contains(self.all[from], self.all[at]))
            .map(shrunk)
            .fold(f64::INFINITY, f64::min);
        let row = self.cores_line(at);
        let place = row.iter().position(|&other| other == at).unwrap_or(0);
        let nearest = |mut side: Box<dyn Iterator<Item = &usize> + '_>| {
            side.find(|&&other| self.is_seen(other)).map(|&other| self.level(other))
        };
        let below = nearest(Box::new(row[..place].iter().rev()));
        let above = nearest(Box::new(row[place..].iter()));
        match (below, above) {
            (Some(below), Some(above)) => from_above.min(below.max(above)),
            _ => from_above,
        }
    }

    pub(super) fn expected(&self, at: usize) -> Option<Expected> {
        self.expected.get(at).copied().flatten()
    }

    /// The greatest throughput of its contexts, where the first context of a core has 1.
    ///
    /// Threads in excess of the contexts add nothing: they take turns.
    pub(super) fn capacity(&self, on: Configuration) -> f64 {
        match (on.cores(), on.per_core()) {
            (Some(cores), Some(contexts)) => {
                f64::from(cores) * (1.0 + self.max_smt_gain * f64::from(contexts - 1))
            }
            _ if on.threads() > self.contexts => {
                let fits = self.all.iter().filter(|other| other.threads() <= self.contexts);
                fits.map(|&other| self.capacity(other)).fold(1.0, f64::max)
            }
            _ => f64::from(on.threads()),
        }
    }

    /// The configurations with the same number of contexts on each core, in order of cores. Threads
    /// without cores count as one core each.
    pub(super) fn cores_line(&self, at: usize) -> Vec<usize> {
        let per_core = self.all[at].per_core();
        let row = per_core.or(Some(1));
        let among = |other: &usize| {
            let other = self.all[*other].per_core();
            other == per_core || other == row
        };
        (0..self.all.len()).filter(among).collect()
    }

    /// The configurations with the same number of cores, or the nearest below it, in order of
    /// contexts.
    pub(super) fn contexts_line(&self, at: usize) -> Vec<usize> {
        let on = self.all[at];
        let most = self.all.iter().filter_map(|other| other.per_core()).max().unwrap_or(0);
        let cores = on.cores().unwrap_or(u32::MAX);
        let mut line = Vec::new();
        for per_core in 1..=most {
            let row = (0..self.all.len()).filter(|&other| {
                let other = self.all[other];
                other.per_core() == Some(per_core)
                    && other.cores().is_some_and(|have| have <= cores)
            });
            line.extend(row.max_by_key(|&other| self.all[other].threads()));
        }
        if on.per_core().is_none() {
            line.push(at);
        }
        line
    }
}

/// Whether `small` results from `large` by leaving out cores or contexts.
pub(super) fn contains(large: Configuration, small: Configuration) -> bool {
    match ((large.cores(), large.per_core()), (small.cores(), small.per_core())) {
        ((Some(cores), Some(contexts)), (Some(fewer), Some(less))) => {
            fewer <= cores && less <= contexts
        }
        _ => small.threads() <= large.threads(),
    }
}
