//! The value of one execution of a configuration: its expected saving, its cost and its risk.

use crate::outlook::{Outlook, gain};
use crate::predict::Step;

use super::limits::{
    FREE, HALF_WIDTH, HIDDEN, HORIZON, LEAST_LOOK, LOOKS, MANY_BURSTS, OTHER_LOOKS, RECALLED,
    SHARED,
};
use super::state::Controller;

/// The value of one execution of a configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) at: usize,
    /// The expected saving of each execution to come, if this one shows it.
    pub(super) gain: f64,
    /// The probability of that.
    pub(super) chance: f64,
    /// The expected cost.
    pub(super) cost: f64,
    /// The saving over the horizon, less the expected loss of this execution.
    pub(super) value: f64,
    /// The most that the execution may cost beyond one at the default.
    pub(super) risk: f64,
}

/// The posterior of a measured configuration: its mean cost as before and after a suspected change, and the
/// standard deviation of what one more execution may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posterior {
    costs: [f64; 2],
    deviation: f64,
}

impl Posterior {
    pub(super) fn mean(&self) -> f64 {
        0.5 * (self.costs[0] + self.costs[1])
    }
}

impl Controller {
    /// The offers that are worth their expected cost, of all configurations but the best.
    pub(super) fn offers(&mut self, least: f64, advice: Option<&Step>) -> Vec<Offer> {
        let (now, default) = (self.account.executions(), self.candidates.default_index());
        // During a burst a sample shows nothing.
        let may_sample = !self.in_burst && self.samples < self.rules.budget;
        if may_sample && std::mem::take(&mut self.is_new) {
            let mut outlooks = std::mem::take(&mut self.outlooks);
            self.known().outlooks(self.records[self.best].level(), self.noise(), &mut outlooks);
            self.outlooks = outlooks;
        }
        let from = self.records[default].level();
        let law = |at: usize| {
            let Outlook { cost, gain, chance } = self.outlooks[at];
            Outlook { cost: cost * from, gain: gain * from, chance }
        };
        let known = self.known();
        let wished = advice.filter(|_| self.expected.is_empty() && !self.disproved);
        let wished = wished.map(|step| known.wished(step, self.credit()));
        let others = self.measured.all().iter().filter(|&&at| at != default);
        let looked = others.map(|&at| self.records[at].seen()).max().unwrap_or(0);
        let mut offers = Vec::with_capacity(self.records.len());
        for at in (0..self.records.len()).filter(|&at| at != self.best) {
            let record = &self.records[at];
            let (mut look, mut returns) = (0.0, 0.0);
            let recalled = known.recalled(at);
            let Outlook { gain, cost, chance } = if record.is_measured() {
                let posterior = self.posterior(at);
                let gains = posterior.costs.map(|cost| gain(cost - least, posterior.deviation));
                let since = if at == default { record.seen() } else { looked };
                let part = match (at == default, self.best == default) {
                    (true, _) => LOOKS,
                    (false, true) => {
                        let hidden = HIDDEN * self.noise() * self.noise();
                        (OTHER_LOOKS + hidden) / f64::from(record.count())
                    }
                    (false, false) => 0.0,
                };
                let age = now.saturating_sub(since);
                look = if age < LEAST_LOOK { 0.0 } else { part * age as f64 * least };
                returns = if at == default { self.returns() } else { 0.0 };
                Outlook { cost: posterior.mean(), gain: 0.5 * (gains[0] + gains[1]), chance: 0.5 }
            } else {
                let level = || least - self.clear_burst(at);
                let normal = |cost: f64, deviation: f64| Outlook {
                    cost,
                    gain: gain(cost - level(), deviation),
                    chance: 0.5,
                };
                match (recalled, known.expected(at), &wished) {
                    _ if !may_sample => continue,
                    (Some(ratio), ..) => normal(ratio * from, RECALLED * ratio * from),
                    (_, Some(expected), _) => {
                        // Predictions share most of their errors. Once one has come true, the
                        // others differ from it by less than their intervals.
                        let is_confirmed =
                            looked > 0 && !matches!(advice, Some(Step::Sample { .. }));
                        let part = if is_confirmed { 1.0 - SHARED } else { 1.0 };
                        normal(expected.cost, part * (expected.cost - expected.low) / HALF_WIDTH)
                    }
                    (_, _, None) => law(at),
                    (_, _, Some(wished)) if wished.contains(&at) => {
                        let law = law(at);
                        Outlook { gain: law.gain.max(0.1 * level()), ..law }
                    }
                    (_, _, Some(_)) => continue,
                }
            };
            let value = self.horizon() * gain + look - (cost - least).max(0.0) - returns;
            if value > 0.0 {
                let risk = match recalled.filter(|_| !record.is_measured()) {
                    Some(ratio) => ratio * from * self.recalled_most - from,
                    None if record.is_measured() => self.risk(at),
                    None => known.risk(at),
                };
                offers.push(Offer { at, gain, chance, cost, value, risk });
            }
        }
        offers
    }

    pub(super) fn posterior(&self, at: usize) -> Posterior {
        let now = self.account.executions();
        let (record, burst) = (&self.records[at], self.clear_burst(at));
        let level = record.level();
        let variance = record.news(self.noise(), now) * level * level;
        // The latest execution may be the first of a change.
        let surprise =
            record.surprise(self.tolerance()).map_or(0.0, |latest| 0.5 * (latest - level));
        let surprise = if at == self.next { surprise } else { 0.0 };
        let costs = record.levels().map(|level| level + burst);
        Posterior { costs, deviation: (variance + surprise * surprise).sqrt() }
    }

    /// The mean excess that bursts add to an execution there. Without executions elsewhere those at the
    /// default tell: half of the bursts hit any part of the machine, the others a smaller part less often.
    pub(super) fn burst(&self, at: usize) -> f64 {
        let (now, default) = (self.account.executions(), self.candidates.default_index());
        let usual = self.bursts[0].mean(0.0, FREE, now);
        if at == default {
            return usual;
        }
        let all = self.candidates.all();
        let part = f64::from(all[at].threads()) / f64::from(all[default].threads());
        self.bursts[1].mean(usual * 0.5 * (1.0 + part), 4.0, now)
    }

    /// The part of that excess that counts for decisions. Of a few bursts nobody can tell where they hit.
    pub(super) fn clear_burst(&self, at: usize) -> f64 {
        let default = self.candidates.default_index();
        let burst = self.burst(at);
        let is_clear = burst > MANY_BURSTS * self.records[default].level();
        let clear = if is_clear { burst } else { 0.0 };
        clear + if at == default { 0.0 } else { self.bursts[1].recurring() }
    }

    /// The most that an execution at a measured configuration may cost beyond one at the default: as much as
    /// two of the highest bursts elsewhere, however long ago: one more than decides nothing. Far higher bursts at the
    /// default would be avoided, so they count against that.
    pub(super) fn risk(&self, at: usize) -> f64 {
        if at == self.candidates.default_index() {
            return 0.0;
        }
        let [one, other] = self.records[at].levels();
        let [usual, elsewhere] = self.bursts.map(|bursts| bursts.highest());
        one.max(other) + (2.0 * elsewhere - (usual - 4.0 * elsewhere).max(0.0)).max(0.0)
            - self.default_cost
    }

    /// The executions for which a saving is expected to last.
    pub(super) fn horizon(&self) -> f64 {
        (self.account.executions() as f64).clamp(HORIZON.0, HORIZON.1)
    }

    /// The loss that the next execution may have.
    pub(super) fn credit(&self) -> f64 {
        self.account.credit(self.default_cost) - self.reserve()
    }

    /// The part of the allowed loss that is never risked. The bound of a sample's cost follows from shares
    /// of the machine. Real samples cost some percent more, as with a cold cache or a thread that wakes up
    /// late.
    pub(super) fn reserve(&self) -> f64 {
        const RESERVE: f64 = 0.05;
        RESERVE * self.rules.bound.steady * (self.account.baseline() + self.default_cost)
    }

    /// The additional cost of a return to the default: the latest, or what is known before the first.
    pub(super) fn returns(&self) -> f64 {
        let default = self.candidates.default_index();
        if self.return_cost > 0.0 || self.rules.switch_back_cost == 0.0 || self.best == default {
            return self.return_cost;
        }
        let seconds = self.seconds.level();
        let level = self.records[default].level();
        self.rules.switch_back_cost / if seconds.is_finite() { seconds } else { level } * level
    }
}
