//! The bound of an execution's additional cost, from the measurements of a phase.

use super::estimate::Estimate;
use crate::predict::Configuration;

/// The measurements of a phase, read only.
pub(super) struct Known<'a> {
    pub(super) all: &'a [Configuration],
    pub(super) default: usize,
    /// The number of hardware contexts.
    pub(super) contexts: u32,
    pub(super) records: &'a [Estimate],
    /// The costs of an earlier run over the default's. Empty without memory.
    pub(super) recalled: &'a [Option<f64>],
    /// The maximum SMT gain: the most that one more context of a core adds, as a part of its first.
    pub(super) max_smt_gain: f64,
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
        let ratio = seen.or(self.recalled.get(at).copied().flatten())?;
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
        let measured = || (0..self.all.len()).filter(|&other| self.is_seen(other));
        // One thread waits for nobody, so its work may be less than the time of all. Several may wait for each
        // other as long as all do.
        let least = if self.all[at].threads() == 1 { 0.0 } else { 1.0 };
        let shrunk = |from: usize| {
            let share = self.share(self.all[from], self.all[at]);
            let alone = self.records[from].parallelism() * SLACK;
            self.level(from) * share.min(alone).max(least).powi(self.cost_exponent)
        };
        let from_above = measured()
            .filter(|&from| self.contains(self.all[from], self.all[at]))
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

    /// Whether `two` leaves out more than `one` of all that `one` leaves out of the default, cores or
    /// contexts.
    pub(super) fn is_further(&self, one: usize, two: usize) -> bool {
        let (default, one, two) = (self.all[self.default], self.all[one], self.all[two]);
        let more = |part: fn(Configuration) -> Option<u32>| {
            part(one) == part(default) || part(two) < part(one)
        };
        self.contains(one, two) && more(Configuration::cores) && more(Configuration::per_core)
    }

    /// The configurations with the same number of contexts on each core and of nodes, in order of cores.
    /// Threads without cores count as one core each.
    pub(super) fn cores_line(&self, at: usize) -> Vec<usize> {
        let (per_core, nodes) = (self.all[at].per_core(), self.all[at].nodes());
        let row = per_core.or(Some(1));
        let among = |other: &usize| {
            let other = self.all[*other];
            let is_near = other.nodes().is_none() || nodes.is_none() || other.nodes() == nodes;
            is_near && (other.per_core() == per_core || other.per_core() == row)
        };
        (0..self.all.len()).filter(among).collect()
    }

    /// Whether `small` results from `large` by leaving out cores, contexts or nodes.
    pub(super) fn contains(&self, large: Configuration, small: Configuration) -> bool {
        if self.nodes(small) > self.nodes(large) {
            return false;
        }
        match ((large.cores(), large.per_core()), (small.cores(), small.per_core())) {
            ((Some(cores), Some(contexts)), (Some(fewer), Some(less))) => {
                fewer <= cores && less <= contexts
            }
            _ => small.threads() <= large.threads(),
        }
    }

    /// The factor by which `large` has more of the machine than `small`: contexts, or the memory bandwidth of
    /// nodes.
    pub(super) fn share(&self, large: Configuration, small: Configuration) -> f64 {
        let contexts = self.capacity(large) / self.capacity(small);
        contexts.max(f64::from(self.nodes(large)) / f64::from(self.nodes(small)))
    }

    /// The NUMA nodes with threads. Cores without a number of nodes may be on all.
    pub(super) fn nodes(&self, on: Configuration) -> u32 {
        let all = || self.all.iter().filter_map(|other| other.nodes()).max().unwrap_or(1);
        on.nodes().unwrap_or_else(|| all().min(on.cores().unwrap_or(on.threads())))
    }
}
