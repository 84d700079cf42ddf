//! The expectation of costs that were not measured, from laws of parallel programs.
//!
//! By a law a part of the default's cost is serial, a part is divided among the threads, and a part grows
//! with their number. `k` threads on a core do `k^a` times the work of one. The prior is a grid of such
//! laws. The measured costs give the laws weights, with heavy tails, because no program
//! follows a law exactly. A law says how a cost changes from the nearest measured configuration.

use super::known::Known;
use crate::predict::Configuration;

/// The exponent `a` of the work of a core: from contexts as good as cores to contexts that evict each
/// other's data.
const CORE: [f64; 8] = [1.0, 0.6, 0.3, 0.0, -0.4, -0.8, -1.3, -2.0];
/// The exponent of the number of threads with which a part of the cost grows: barriers, locks, shared data.
const GROWTH: [f64; 3] = [0.5, 1.0, 2.0];
/// The steps of each part between none and all.
const PARTS: usize = 4;
/// The laws of one exponent `a` and one growth.
const SPLITS: usize = (PARTS + 1) * (PARTS + 2) / 2;
const LAWS: usize = CORE.len() * GROWTH.len() * SPLITS;
/// The error of a law, as a part of the cost: half of the distance between two of the grid.
const ERROR: f64 = 0.03;
/// The degrees of freedom of the errors' t distribution: the fewer, the heavier its tails.
const FREEDOM: f64 = 5.0;
/// The error where the threads of the default take turns: no law says how much that costs, and each law is
/// as likely.
const TURNS: f64 = 0.3;
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

/// The weights of the laws, and the costs on the way.
struct Laws<'a> {
    known: &'a Known<'a>,
    weights: [f64; LAWS],
}

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
    /// The expectations for all configurations that were not measured, over the default's cost. The best so
    /// far costs `best`, and executions vary by `noise`.
    pub(super) fn outlooks(&self, best: f64, noise: f64, outlooks: &mut [Outlook]) {
        let laws = Laws::new(self, noise);
        let default = self.level(self.default);
        for (at, outlook) in outlooks.iter_mut().enumerate().filter(|(at, _)| !self.is_seen(*at)) {
            let Outlook { cost, gain, chance } = laws.outlook(at, best, self.ceiling(at));
            *outlook = Outlook { cost: cost / default, gain: gain / default, chance };
        }
    }
}

impl<'a> Laws<'a> {
    /// The posterior of the laws, with executions that vary by `noise`.
    fn new(known: &'a Known<'a>, noise: f64) -> Laws<'a> {
        let oversubscribed = known.all[known.default].threads() > known.contexts;
        let weights = if oversubscribed { [1.0; LAWS] } else { prior() };
        let mut laws = Laws { known, weights };
        let error = if oversubscribed { TURNS } else { ERROR.hypot(noise) };
        for at in (0..known.all.len()).filter(|&at| at != known.default) {
            let Some(ratio) = known.ratio(at) else { continue };
            let ratios = laws.ratios(known.all[at]);
            for (weight, law) in laws.weights.iter_mut().zip(ratios) {
                let off = (law / ratio).ln() / error;
                *weight *= (1.0 + off * off / FREEDOM).powi(-(FREEDOM as i32 + 1) / 2);
            }
        }
        let sum: f64 = laws.weights.iter().sum();
        laws.weights.iter_mut().for_each(|weight| *weight /= sum);
        laws
    }

    /// The outlook for `at`, which was not measured, against a best that costs `best`.
    fn outlook(&self, at: usize, best: f64, ceiling: f64) -> Outlook {
        let known = self.known;
        let distance = |&other: &usize| distance(known, at, other);
        let near = (0..known.all.len())
            .filter(|&other| known.is_seen(other))
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .unwrap_or(known.default);
        let anchor = known.level(near);
        let (from, to) = (self.ratios(known.all[near]), self.ratios(known.all[at]));
        let mut outlook = Outlook::default();
        for number in 0..LAWS {
            let ratio = to[number] / from[number];
            let power =
                if known.cost_exponent == 1 { ratio } else { ratio.powi(known.cost_exponent) };
            let cost = (anchor * power).min(ceiling);
            outlook.cost += self.weights[number] * cost;
            outlook.gain += self.weights[number] * (best - cost).max(0.0);
            outlook.chance += if cost < best { self.weights[number] } else { 0.0 };
        }
        // Where a law does not reach, the cost grows by the share of the cores or nodes.
        let cores =
            |on: Configuration| f64::from(on.threads()) / f64::from(on.per_core().unwrap_or(1));
        let nodes = |on: Configuration| f64::from(known.nodes(on));
        let share = |of: &dyn Fn(Configuration) -> f64| of(known.all[near]) / of(known.all[at]);
        let share = share(&cores).max(share(&nodes)).max(1.0);
        let reaches = (1.0 - FAILS).powf(share.log2());
        outlook.gain *= reaches;
        outlook.chance *= reaches;
        outlook.cost = reaches * outlook.cost + (1.0 - reaches) * (anchor * share).min(ceiling);
        if self.is_beside_best(at) {
            outlook.gain = outlook.gain.max(BESIDE * best);
        }
        // A valley may lie where no law has one.
        let steps = (distance(&near) / std::f64::consts::LN_2).min(1.0);
        let of_steps = PER_STEP * steps;
        let of_nodes =
            PER_NODES * (nodes(known.all[near]) / nodes(known.all[at])).log2().abs().min(1.0);
        let deviation = of_steps.max(of_nodes) * outlook.cost;
        outlook.gain = outlook.gain.max(gain(outlook.cost - best, deviation));
        outlook
    }

    /// Whether `at` has the cores of the best so far, with one context more or fewer on each, or on other nodes.
    fn is_beside_best(&self, at: usize) -> bool {
        let known = self.known;
        let best = (0..known.all.len())
            .filter(|&other| known.is_seen(other))
            .min_by(|&a, &b| known.level(a).total_cmp(&known.level(b)))
            .unwrap_or(known.default);
        let contexts = |at: usize| known.all[at].per_core().unwrap_or(1);
        best != known.default
            && known.all[best].cores() == known.all[at].cores()
            && (contexts(best).abs_diff(contexts(at)) == 1
                || known.all[best].wherever() == known.all[at].wherever())
    }

    /// The time at `on` over the default's, by each law.
    fn ratios(&self, on: Configuration) -> [f64; LAWS] {
        let default = self.known.all[self.known.default];
        let share = match (on.per_core(), default.per_core()) {
            (Some(_), Some(_)) => None,
            _ => Some(self.known.capacity(default) / self.known.capacity(on)),
        };
        let threads = f64::from(on.threads()) / f64::from(default.threads());
        let of_default = f64::from(default.per_core().unwrap_or(1));
        let contexts = f64::from(on.per_core().unwrap_or(1)) / of_default;
        let (mut ratios, mut number) = ([0.0; LAWS], 0);
        let growing = GROWTH.map(|growth| threads.powf(growth));
        for divided in CORE.map(|a| share.unwrap_or(contexts / threads * contexts.powf(-a))) {
            for growing in growing {
                for grows in 0..=PARTS {
                    for serial in 0..=PARTS - grows {
                        let [grows, serial] = [grows, serial].map(|of| of as f64 / PARTS as f64);
                        ratios[number] =
                            serial + grows * growing + (1.0 - serial - grows) * divided;
                        number += 1;
                    }
                }
            }
        }
        ratios
    }
}

/// The prior weights of the laws: work that a program divides among threads is most often the larger part.
fn prior() -> [f64; LAWS] {
    let (mut weights, mut number) = ([0.0; LAWS], 0);
    for _ in 0..CORE.len() * GROWTH.len() {
        for grows in 0..=PARTS {
            for serial in 0..=PARTS - grows {
                let divided = (PARTS - grows - serial) as f64 / PARTS as f64;
                weights[number] = (0.25 + divided).powf(1.5);
                number += 1;
            }
        }
    }
    weights
}

/// A distance of configurations: by which factors cores, contexts and nodes differ.
fn distance(known: &Known<'_>, one: usize, other: usize) -> f64 {
    let log = |at: usize| {
        let on = known.all[at];
        let contexts = f64::from(on.per_core().unwrap_or(1));
        let cores = f64::from(on.threads()) / contexts;
        [cores, contexts, f64::from(known.nodes(on))].map(f64::ln)
    };
    log(one).iter().zip(log(other)).map(|(one, other)| (one - other).abs()).sum()
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
