//! The expectation of costs that were not measured.
//!
//! A law says how a cost changes from the nearest measured configuration.

use crate::known::Known;

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

/// The expectation for a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outlook {
    /// The mean of the cost.
    pub(super) cost: f64,
    /// The mean of what it is below the best, where it is.
    pub(super) gain: f64,
    /// The probability that it is below the best.
    pub(super) chance: f64,
}

impl Known<'_> {
    /// Whether laws say what to expect: nothing better does.
    pub(super) fn needs_laws(&self, at: usize) -> bool {
        !self.is_seen(at) && self.recalled(at).is_none() && self.expected(at).is_none()
    }

    /// The expectations for all configurations that need laws, over the default's cost. The best so
    /// far costs `best`, and executions vary by `noise`.
    pub(super) fn outlooks(&self, best: f64, noise: f64, outlooks: &mut [Outlook]) {
        let candidates = 0..self.all.len();
        let needed = |&at: &usize| self.needs_laws(at);
        if !candidates.clone().any(|at| needed(&at)) {
            return;
        }
        let ratios = candidates.clone().filter(|&at| at != self.default);
        let ratios = ratios.filter_map(|at| {
            let ratio = self.ratio(at)?;
            Some((self.table.logs(at), ratio.ln()))
        });
        let weights = self.table.laws.posterior(noise, ratios);
        let default = self.level(self.default);
        let cheapest = self.measured.all().iter().copied();
        let cheapest = cheapest.min_by(|&a, &b| self.level(a).total_cmp(&self.level(b)));
        let cheapest = cheapest.unwrap_or(self.default);
        for at in candidates.filter(needed) {
            let near = self.measured.nearest(at);
            let (anchor, ceiling) = (self.level(near), self.ceiling(at));
            let [from, to] = [near, at].map(|at| self.table.row(at).ratios.as_slice());
            let limits = (best / anchor, ceiling / anchor);
            let expected = weights.expectation(from, to, limits, self.cost_exponent);
            let [cost, gain, chance] = expected;
            let by_laws = Outlook { cost: cost * anchor, gain: gain * anchor, chance };
            let Outlook { cost, gain, chance } =
                self.beyond_laws(by_laws, (near, at), (best, cheapest), ceiling);
            outlooks[at] = Outlook { cost: cost / default, gain: gain / default, chance };
        }
    }

    /// The expectation for the second of two configurations by laws from the first one, corrected for what
    /// no law knows. The cheapest so far costs `best`.
    fn beyond_laws(
        &self,
        mut outlook: Outlook,
        (near, at): (usize, usize),
        (best, cheapest): (f64, usize),
        ceiling: f64,
    ) -> Outlook {
        let (from, to) = (self.table.row(near), self.table.row(at));
        let [cores, _, nodes] = self.table.steps(near, at);
        // Where a law does not reach, the cost grows by the share of the cores or nodes.
        let steps = cores.max(nodes) / std::f64::consts::LN_2;
        if steps > 0.0 {
            let share = (from.cores / to.cores).max(f64::from(from.nodes) / f64::from(to.nodes));
            let reaches = (steps * (1.0 - FAILS).ln()).exp();
            outlook.gain *= reaches;
            outlook.chance *= reaches;
            let failed = (self.level(near) * share).min(ceiling);
            outlook.cost = reaches * outlook.cost + (1.0 - reaches) * failed;
        }
        if cheapest != self.default && self.table.are_beside(cheapest, at) {
            outlook.gain = outlook.gain.max(BESIDE * best);
        }
        // A valley may lie where no law has one.
        let part = |log: f64| (log / std::f64::consts::LN_2).min(1.0);
        let of_steps = PER_STEP * part(self.table.distance(near, at));
        let of_nodes = PER_NODES * part(nodes.abs());
        let deviation = of_steps.max(of_nodes) * outlook.cost;
        outlook.gain = outlook.gain.max(gain(outlook.cost - best, deviation));
        outlook
    }
}

/// The mean gain of a cost that is expected to be `more` above the best, with that standard deviation. It
/// is that of a logistic distribution, whose tails are heavier than the normal distribution's.
pub(super) fn gain(more: f64, deviation: f64) -> f64 {
    const SCALE: f64 = 1.8;
    if deviation <= 0.0 {
        return (-more).max(0.0);
    }
    let scaled = -SCALE * more / deviation;
    // Both forms are the same; neither overflows.
    let softened =
        if scaled > 0.0 { scaled + (-scaled).exp().ln_1p() } else { scaled.exp().ln_1p() };
    softened * deviation / SCALE
}
