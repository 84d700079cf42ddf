//! The cost of configurations that were not measured: by laws of parallel programs, by forecasts, and at most.

use std::f64::consts::LN_2;

use super::Posterior;

/// The standard deviation of the cost on twice or half the NUMA nodes, as a part of it: no law knows nodes.
const PER_NODES: f64 = 0.3;
/// The probability that a law does not reach half of the cores of the nearest measured configuration. Tuned.
const FAILS: f64 = 0.35;
/// The least mean gain of one context more or fewer on the best cores, as a part of the best cost: no law
/// knows the contexts of a core well.
const NEIGHBOUR: f64 = 0.01;
/// The most that one thread takes, over the busy time of all threads: it has the caches of one core only.
const SLACK: f64 = 1.05;

/// The expectation of an execution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Belief {
    /// The mean of the cost.
    pub(crate) cost: f64,
    /// The mean of what it is below the best, where it is.
    pub(crate) gain: f64,
    /// The probability that it is below the best.
    pub(crate) chance: f64,
}

/// Where a hypothesis is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// An earlier run of the program.
    Memory,
    /// A predictor.
    Forecast,
}

/// A forecast of a cost that was not measured, over the default's usual cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hypothesis {
    pub(crate) source: Source,
    pub(crate) cost: f64,
    pub(crate) deviation: f64,
    /// An execution that costs more disproves it, and all others of its source.
    pub(crate) most: f64,
}

/// The mean gain of a cost that is expected to be `more` above the best, with that standard deviation. It
/// is that of a logistic distribution, whose tails are heavier than the normal distribution's.
pub(super) fn expected_gain(more: f64, deviation: f64) -> f64 {
    // Standard deviation over scale: π / √3, rounded.
    const SCALE: f64 = 1.8;
    if deviation <= 0.0 {
        return (-more).max(0.0);
    }
    let scaled = -SCALE * more / deviation;
    // This form does not overflow.
    (scaled.max(0.0) + (-scaled.abs()).exp().ln_1p()) * deviation / SCALE
}

impl Posterior {
    /// Brings what laws expect up to date, for all configurations about which nothing better is known. The
    /// best so far is `best`. A law says how a cost changes from the nearest measured configuration.
    pub(crate) fn apply_laws(&mut self, best: usize) {
        if !std::mem::take(&mut self.is_new) {
            return;
        }
        let candidates = 0..self.records.len();
        let is_open = |&at: &usize| !self.is_measured(at) && self.hypotheses[at].is_none();
        let open: Vec<usize> = candidates.clone().filter(is_open).collect();
        if open.is_empty() {
            return;
        }
        let default = self.candidates.default_index();
        let ratios = candidates.filter(|&at| at != default).filter_map(|at| {
            let ratio = self.ratio(at)?.powf(1.0 / f64::from(self.exponent));
            Some((self.table.logs(at), ratio.ln()))
        });
        let weights = self.table.laws.posterior(self.noise(), ratios);
        let cheapest = self.measured().min_by(|&a, &b| self.level(a).total_cmp(&self.level(b)));
        for at in open {
            let distance = |near: &usize| self.table.distance(at, *near);
            let nearest = self.measured().min_by(|a, b| distance(a).total_cmp(&distance(b)));
            let near = nearest.unwrap_or(default);
            let (anchor, least) = (self.level(near), self.level(best));
            let [from, to] = [near, at].map(|at| self.table.row(at).ratios.as_slice());
            let limits = (least / anchor, self.ceiling(at) / anchor);
            let [mut cost, mut gain, mut chance] =
                weights.expectation(from, to, limits, self.exponent);
            // Where a law does not reach, the cost grows by the share of the machine.
            let [cores, _, nodes] = self.table.steps(near, at);
            let grows = cores.max(nodes);
            if grows > 0.0 {
                let reaches = (1.0 - FAILS).powf(grows / LN_2);
                cost = reaches * cost + (1.0 - reaches) * grows.exp().min(limits.1);
                (gain, chance) = (gain * reaches, chance * reaches);
            }
            if cheapest.is_some_and(|best| best != default && self.table.are_neighbours(best, at)) {
                gain = gain.max(NEIGHBOUR * limits.0);
            }
            let of_nodes = PER_NODES * (nodes.abs() / LN_2).min(1.0);
            let of_nodes = expected_gain(cost - limits.0, of_nodes * cost);
            let (cost, gain) = (cost * anchor, gain.max(of_nodes) * anchor);
            self.laws[at] = Belief { cost, gain, chance };
        }
    }

    /// The upper bound of an execution's cost, independent of memory and of any predictor.
    ///
    /// A configuration with fewer cores, contexts and nodes loses at most their share of the machine. It
    /// takes at most as long as one thread with the work of all threads.
    pub(crate) fn ceiling(&self, at: usize) -> f64 {
        // One thread has no other to wait for, so its work may be less than the time of all. Several may wait for each
        // other as long as all do.
        let least = if self.candidates.all()[at].threads() == 1 { 0.0 } else { 1.0 };
        let shrunk = |from: usize| {
            let share = self.table.share(from, at);
            let alone = self.records[from].parallelism() * SLACK;
            self.level(from) * share.min(alone).max(least).powi(self.exponent)
        };
        let contains = self.measured().filter(|&from| self.table.contains(from, at));
        contains.map(shrunk).fold(f64::INFINITY, f64::min)
    }

    /// The most that the next execution may cost. Bursts of other programs count where there are many.
    pub(crate) fn most(&self, at: usize) -> f64 {
        if self.is_measured(at) {
            let [one, other] = self.records[at].levels();
            return one.max(other) + self.worst_burst();
        }
        match self.hypotheses[at] {
            Some(hypothesis) if hypothesis.source == Source::Memory => {
                hypothesis.most * self.usual()
            }
            Some(hypothesis) => self.ceiling(at).min(hypothesis.most * self.usual()),
            None => self.ceiling(at),
        }
    }
}
