//! The expectation of costs that were not measured: from an earlier run, from a predictor, or by laws.
//!
//! A law says how a cost changes from the nearest measured configuration.

use super::Posterior;
use super::belief::{Belief, expected_gain};

/// The standard deviation of a law's cost at twice or half the threads or contexts of the nearest measured
/// configuration, as a part of it.
const PER_STEP: f64 = 0.04;
/// The standard deviation of the cost on twice or half the NUMA nodes, as a part of it: no law knows nodes.
/// Tuned.
const PER_NODES: f64 = 0.3;
/// The probability that a law does not reach half of the cores of the nearest measured configuration. Tuned.
const FAILS: f64 = 0.35;
/// The least mean gain of one context more or fewer on the best cores, as a part of the best cost: no law
/// knows the contexts of a core well.
const BESIDE: f64 = 0.01;

impl Posterior {
    /// Brings what laws expect up to date, for all configurations about which nothing better is known. The
    /// best so far is `best`.
    pub(crate) fn apply_laws(&mut self, best: usize) {
        if !std::mem::take(&mut self.is_new) {
            return;
        }
        let candidates = 0..self.records.len();
        let needed = |&at: &usize| !self.records[at].is_measured() && self.hypotheses[at].is_none();
        let needed: Vec<usize> = candidates.clone().filter(needed).collect();
        if needed.is_empty() {
            return;
        }
        let default = self.candidates.default_index();
        let ratios = candidates.filter(|&at| at != default).filter_map(|at| {
            let ratio = self.ratio(at)?.powf(1.0 / f64::from(self.exponent));
            Some((self.table.logs(at), ratio.ln()))
        });
        let weights = self.table.laws.posterior(self.noise(), ratios);
        let cheapest = self.measured.iter().copied();
        let cheapest = cheapest.min_by(|&a, &b| self.level(a).total_cmp(&self.level(b)));
        let (least, cheapest) = (self.level(best), cheapest.unwrap_or(default));
        for at in needed {
            let near = self.nearest(at);
            let (anchor, ceiling) = (self.level(near), self.ceiling(at));
            let [from, to] = [near, at].map(|at| self.table.row(at).ratios.as_slice());
            let limits = (least / anchor, ceiling / anchor);
            let [cost, gain, chance] = weights.expectation(from, to, limits, self.exponent);
            let by_laws = Belief { cost: cost * anchor, gain: gain * anchor, chance };
            self.laws[at] = self.beyond_laws(by_laws, (near, at), (least, cheapest), ceiling);
        }
    }

    /// The measured configuration that differs least.
    fn nearest(&self, at: usize) -> usize {
        let distance = |&near: &usize| self.table.distance(at, near);
        let nearest = self.measured.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.copied().unwrap_or(self.candidates.default_index())
    }

    /// The expectation for the second of two configurations by laws from the first one, corrected for what
    /// no law knows. The cheapest so far costs `best`.
    fn beyond_laws(
        &self,
        Belief { mut cost, mut gain, mut chance }: Belief,
        (near, at): (usize, usize),
        (best, cheapest): (f64, usize),
        ceiling: f64,
    ) -> Belief {
        let (from, to) = (self.table.row(near), self.table.row(at));
        let [cores, _, nodes] = self.table.steps(near, at);
        // Where a law does not reach, the cost grows by the share of the cores or nodes.
        let steps = cores.max(nodes) / std::f64::consts::LN_2;
        if steps > 0.0 {
            let share = (from.cores / to.cores).max(f64::from(from.nodes) / f64::from(to.nodes));
            let reaches = (steps * (1.0 - FAILS).ln()).exp();
            let failed = (self.level(near) * share).min(ceiling);
            cost = reaches * cost + (1.0 - reaches) * failed;
            (gain, chance) = (gain * reaches, chance * reaches);
        }
        if cheapest != self.candidates.default_index() && self.table.are_beside(cheapest, at) {
            gain = gain.max(BESIDE * best);
        }
        // A valley may lie where no law has one.
        let part = |log: f64| (log / std::f64::consts::LN_2).min(1.0);
        let of_steps = PER_STEP * part(self.table.distance(near, at));
        let of_nodes = PER_NODES * part(nodes.abs());
        let deviation = of_steps.max(of_nodes) * cost;
        Belief { cost, gain: gain.max(expected_gain(cost - best, deviation)), chance }
    }
}
