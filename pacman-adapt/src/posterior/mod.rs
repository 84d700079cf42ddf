//! The posterior of each configuration's cost: its mean, and what it may be.
//!
//! Executions give the cost of the configurations that ran. An earlier run, a predictor, or laws of parallel
//! programs give the cost of all others. Shares of the machine bound each cost.

mod bursts;
mod estimate;
mod unmeasured;

use std::sync::Arc;

use crate::candidates::Candidates;
use crate::predict::Configuration;
use crate::table::CandidateTable;
use bursts::Bursts;
use estimate::Estimate;
use unmeasured::expected_gain;

pub(super) use estimate::News;
pub(super) use unmeasured::{Belief, Hypothesis, Source};

/// The parts of the level from which a cost is a burst or a change. Smaller changes are followed by the mean.
/// Beyond the second, a mean of bursts and others would pass for the usual cost.
const CHANGE: (f64, f64) = (0.10, 0.6);
/// The standard deviations of noise that are no change: one in 16,000 of a normal distribution is beyond.
const CLEAR: f64 = 4.0;
/// The most executions that the noise is a mean of.
const NOISE: f64 = 64.0;
/// The mean excess of bursts, as a part of the default's level, up to which they do not count for decisions.
const MANY_BURSTS: f64 = 0.25;
/// The part of the default's bursts that is expected elsewhere before the first: half of them hit any part of the
/// machine, and the others half of it half as often.
const ELSEWHERE: f64 = 0.75;
/// The executions that are assumed before the first: at the default without a burst, and elsewhere as there.
const ASSUMED: [f64; 2] = [16.0, 4.0];

/// The knowledge of a phase's costs.
#[derive(Debug)]
pub(super) struct Posterior {
    pub(super) candidates: Candidates,
    table: Arc<CandidateTable>,
    /// The exponent of time with which costs grow.
    exponent: i32,
    records: Vec<Estimate>,
    /// The excess of bursts: at the default, and elsewhere.
    bursts: [Bursts; 2],
    /// The mean deviation from the level, and the executions that it is a mean of.
    deviation: (f64, f64),
    pub(super) hypotheses: Vec<Option<Hypothesis>>,
    /// By candidate, the expectation by laws.
    laws: Vec<Belief>,
    /// There is evidence that the laws have not seen.
    pub(super) is_new: bool,
}

impl Posterior {
    pub(super) fn new(candidates: Candidates, max_smt_gain: f64, exponent: i32) -> Posterior {
        let count = candidates.all().len();
        Posterior {
            table: candidates.table(max_smt_gain),
            candidates,
            exponent,
            records: vec![Estimate::default(); count],
            bursts: [Bursts::default(); 2],
            deviation: (0.0, 0.0),
            hypotheses: vec![None; count],
            laws: vec![Belief::default(); count],
            is_new: true,
        }
    }

    /// Continues with other candidates. Measurements stay valid if the default stays.
    pub(super) fn restrict(&mut self, candidates: Candidates) {
        let new = Posterior::new(candidates, self.table.max_smt_gain, self.exponent);
        let old = std::mem::replace(self, new);
        if self.candidates.default() == old.candidates.default() {
            (self.bursts, self.deviation) = (old.bursts, old.deviation);
            for (record, on) in self.records.iter_mut().zip(self.candidates.all()) {
                let before = old.candidates.index(*on).map(|before| old.records[before]);
                *record = before.unwrap_or_default();
            }
        }
    }

    /// Adds execution number `now` to the evidence.
    #[inline]
    pub(super) fn observe(&mut self, at: usize, cost: f64, busy: f64, now: u64) -> News {
        let (count, level) = (self.records[at].count, self.level(at));
        let tolerance = self.tolerance();
        if count > 0 {
            self.vary((cost / level - 1.0).abs());
        }
        let news = self.records[at].push(cost, busy, now, tolerance);
        match news {
            // A burst in the very first execution cannot be recognised: everything is cold.
            News::Excess(_) if now < 2 => {}
            News::Excess(excess) => self.bursts_at(at).add(excess, now),
            News::Change(_, excess) => self.bursts_at(at).take_back(excess),
        }
        self.is_new |= count < 3 || (self.level(at) - level).abs() > 0.01 * level;
        news
    }

    /// The bursts that count for a configuration.
    pub(super) fn bursts_at(&mut self, at: usize) -> &mut Bursts {
        &mut self.bursts[usize::from(at != self.candidates.default_index())]
    }

    /// Adds a deviation from the level to the noise. A burst is no noise, so what is beyond two standard
    /// deviations counts as that.
    #[inline]
    fn vary(&mut self, deviation: f64) {
        let (mean, count) = self.deviation;
        let count = (count + 1.0).min(NOISE);
        let deviation = deviation.min(2.5 * mean + 0.05);
        self.deviation = (mean + (deviation - mean) / count, count);
    }

    /// Forgets all hypotheses of a source.
    pub(super) fn forget(&mut self, source: Source) {
        for hypothesis in &mut self.hypotheses {
            self.is_new |= hypothesis.take_if(|hypothesis| hypothesis.source == source).is_some();
        }
    }

    /// Whether `two` leaves out more than `one` of all that `one` leaves out of the default, cores or
    /// contexts.
    pub(super) fn is_further(&self, one: usize, two: usize) -> bool {
        let more = |part: fn(Configuration) -> Option<u32>| {
            let all = self.candidates.all();
            let [default, one, two] = [self.candidates.default(), all[one], all[two]].map(part);
            one == default || two < one
        };
        self.contains(one, two) && more(Configuration::cores) && more(Configuration::per_core)
    }

    /// Whether `small` results from `large` by leaving out cores, contexts or nodes.
    pub(super) fn contains(&self, large: usize, small: usize) -> bool {
        self.table.contains(large, small)
    }

    pub(super) fn record(&self, at: usize) -> &Estimate {
        &self.records[at]
    }

    pub(super) fn is_measured(&self, at: usize) -> bool {
        self.records[at].count > 0
    }

    /// The candidates with executions, in order.
    pub(super) fn measured(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.records.len()).filter(|&at| self.is_measured(at))
    }

    /// The usual cost, without bursts; infinite before the first execution.
    pub(super) fn level(&self, at: usize) -> f64 {
        self.records[at].level()
    }

    /// The usual cost of the default.
    pub(super) fn usual(&self) -> f64 {
        self.level(self.candidates.default_index())
    }

    /// The cost over the default's, measured in this run or an earlier one.
    pub(super) fn ratio(&self, at: usize) -> Option<f64> {
        let measured = self.is_measured(at).then(|| self.level(at) / self.usual());
        let recalled = self.hypotheses[at].filter(|hypothesis| hypothesis.source == Source::Memory);
        measured.or(recalled.map(|hypothesis| hypothesis.cost))
    }

    /// The standard deviation of executions, as a part of their cost.
    #[inline]
    pub(super) fn noise(&self) -> f64 {
        // A normal distribution deviates by 0.8 of its standard deviation on average.
        1.25 * self.deviation.0
    }

    /// The part of its level from which the cost of an execution is a burst or a change.
    #[inline]
    pub(super) fn tolerance(&self) -> f64 {
        (CLEAR * self.noise()).clamp(CHANGE.0, CHANGE.1)
    }

    /// The mean cost of an execution at a measured configuration.
    pub(super) fn mean(&self, at: usize, now: u64) -> f64 {
        let [one, other] = self.records[at].levels();
        0.5 * (one + other) + self.excess(at, now)
    }

    /// The assumed cost of an execution at the default, as a measure of losses.
    pub(super) fn default_cost(&self, now: u64) -> f64 {
        let default = self.candidates.default_index();
        let [one, other] = self.records[default].levels();
        one.min(other) + self.burst(default, now)
    }

    /// The expected cost and gain of an execution, where the best costs `least`. At a measured configuration the
    /// gain is that of the news of one more execution.
    pub(super) fn belief(&self, at: usize, (least, ran): (f64, usize), now: u64) -> Belief {
        let (record, burst, from) = (&self.records[at], self.excess(at, now), self.usual());
        if self.is_measured(at) {
            let deviation =
                record.news(self.noise(), if at == ran { self.tolerance() } else { 1.0 }, now);
            let gains =
                record.levels().map(|level| expected_gain(level + burst - least, deviation));
            return Belief {
                cost: self.mean(at, now),
                gain: 0.5 * (gains[0] + gains[1]),
                chance: 0.5,
            };
        }
        match self.hypotheses[at] {
            Some(Hypothesis { cost, deviation, .. }) => {
                let gain = expected_gain(cost * from + burst - least, deviation * from);
                Belief { cost: cost * from, gain, chance: 0.5 }
            }
            None => self.laws[at],
        }
    }

    /// The mean excess that bursts add to an execution there. Without executions elsewhere it follows from those at
    /// the default.
    fn burst(&self, at: usize, now: u64) -> f64 {
        let usual = self.bursts[0].mean(0.0, ASSUMED[0], now);
        match at == self.candidates.default_index() {
            true => usual,
            false => self.bursts[1].mean(ELSEWHERE * usual, ASSUMED[1], now),
        }
    }

    /// The part of that excess that counts for decisions. A few bursts do not show where bursts hit.
    pub(super) fn excess(&self, at: usize, now: u64) -> f64 {
        let burst = self.burst(at, now);
        let clear = if burst > MANY_BURSTS * self.usual() { burst } else { 0.0 };
        clear + if at == self.candidates.default_index() { 0.0 } else { self.bursts[1].recurring() }
    }

    /// The time that bursts may add to an execution elsewhere, where there are many: two of the highest, because
    /// one more than decides nothing.
    fn worst_burst(&self) -> f64 {
        let means =
            self.bursts.iter().zip(ASSUMED).map(|(bursts, weight)| bursts.mean(0.0, weight, 0));
        let are_many = means.fold(0.0, f64::max) > MANY_BURSTS * self.usual();
        if are_many { 2.0 * self.bursts[1].highest } else { 0.0 }
    }
}
