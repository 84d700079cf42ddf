//! The rule: run what is expected to save most, within the budget.
//!
//! The value of one execution of a configuration is the saving that it may lead to, over the executions to
//! come, less its expected cost beyond the best. `docs/research/adaptation.md` has the model and the proof
//! of the bound.

use crate::predict::Step;
use crate::reason::Reason;

use super::limits::{
    KNOWN_WELL, LEAST_CHANGE, LEAST_GAIN, LEAST_GAIN_OF_BURSTS, LEAST_LOOK, LONGEST, LOOKS,
    VERIFIED,
};
use super::rules::State;
use super::state::Controller;
use super::value::Offer;

impl Controller {
    /// Evaluates the rule.
    #[cold]
    pub(super) fn decide(&mut self) {
        let (now, default) = (self.account.executions(), self.candidates.default_index());
        self.recall_if_alike();
        let advice = self.consult();
        if !self.default_is_known() {
            (self.next, self.due) = (default, now + 1);
            return;
        }
        if self.rules.break_even > 0.0 && self.seconds.level() < self.rules.break_even {
            (self.state, self.next, self.best) = (State::LeftAlone, default, default);
            self.reason = Reason::TooShort(self.seconds.level(), self.rules.break_even);
            return;
        }
        let before = self.best;
        let usual = self.posterior(default);
        let [one, other] = self.records[default].levels();
        self.default_cost = one.min(other) + self.burst(default);
        let (mut best, mut least) = (default, usual.mean());
        for &at in self.measured.all().iter().filter(|&&at| at != default) {
            let cost = self.posterior(at).mean();
            let risk = self.risk(at);
            if risk > 0.0 && at != self.next && risk > self.credit() {
                continue;
            }
            // Whether bursts alone make it better is known less well.
            let by_bursts = self.records[at].level() > self.records[default].level();
            let gain = if by_bursts { LEAST_GAIN_OF_BURSTS } else { LEAST_GAIN };
            if cost < least.min(usual.mean() * (1.0 - gain)) {
                (best, least) = (at, cost);
            }
        }
        self.is_new |= best != before;
        self.best = best;
        let offers = self.offers(least, advice.as_ref());
        self.choose(&offers, least, before, advice.as_ref());
    }

    /// Runs the best, the offer of the greatest value that the budget can pay for, or one on the way to a
    /// greater value.
    fn choose(&mut self, offers: &[Offer], least: f64, before: usize, advice: Option<&Step>) {
        let (now, default) = (self.account.executions(), self.candidates.default_index());
        let (best, credit) = (self.best, self.credit());
        // The best fills the account by its gains, the default by the limits alone.
        let gains = self.default_cost - least;
        let waits = |risk: f64| match risk <= credit.max(0.0) {
            true => Some(0),
            false if best != default && gains > 0.0 => {
                Some(((risk - credit) / gains).ceil().min(1e6) as u64)
            }
            false => self.account.waits(risk + self.reserve(), self.default_cost),
        };
        // An execution that the budget pays for later gains for fewer executions.
        let later = |offer: &Offer, wait: Option<u64>| {
            offer.value - wait.map_or(f64::INFINITY, |wait| wait as f64) * offer.gain
        };
        let waiting = offers.iter().map(|offer| (offer, waits(offer.risk)));
        let value = |&(offer, wait): &(&Offer, Option<u64>)| later(offer, wait);
        let greatest = waiting.max_by(|a, b| value(a).total_cmp(&value(b)));
        let Some((&target, _)) = greatest else { return self.hold(before, least) };
        // An execution gains until a greater gain can be paid for. If it loses, that comes later, and if it
        // gains, at once: the risk is less, and the budget more.
        let greater = |offer: &Offer, other: &Offer| {
            let fails = 1.0 - offer.chance;
            // If fewer threads lose, still fewer of the same kind hardly gain, so nothing is put off.
            let puts_off =
                if self.known().is_further(offer.at, other.at) { 0.0 } else { offer.risk };
            let (until, then) = (waits(other.risk), waits(other.risk + puts_off.max(0.0)));
            let Some((until, then)) = until.zip(then) else { return offer.value };
            let (until, then) = (until as f64, then as f64);
            if until >= self.horizon() {
                return offer.value;
            }
            let short = (self.horizon() - until) * offer.gain;
            offer.value - short - other.gain * (fails * then - until)
        };
        let now_worth = |offer: &Offer| {
            let others =
                offers.iter().filter(|other| other.gain > offer.gain && other.risk > credit);
            others.map(|other| greater(offer, other)).fold(offer.value, f64::min)
        };
        let payable = offers.iter().filter(|offer| offer.risk <= credit.max(0.0));
        let payable =
            payable.map(|offer| (offer, now_worth(offer))).filter(|(_, value)| *value > 0.0);
        let choice = payable.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(offer, _)| *offer);
        let Some(offer) = choice else {
            let risks = offers.iter().map(|offer| offer.risk).filter(|&risk| risk > credit);
            let wait = waits(risks.fold(f64::INFINITY, f64::min)).unwrap_or(LONGEST);
            (self.next, self.state) = (best, State::Sampling);
            // Gains fill the account sooner than waiting does, so this looks again after half of the time.
            self.due = now + (wait / 2).clamp(1, LONGEST);
            self.reason = Reason::Unpaid {
                target: self.candidates.all()[target.at],
                risk: target.risk / self.default_cost,
                credit: credit.max(0.0) / self.default_cost,
                measured: self.measured.all().len(),
            };
            return;
        };
        let is_new = !self.records[offer.at].is_measured();
        (self.next, self.due) = (offer.at, now + 1);
        if !is_new {
            self.state = if offer.at == default { State::Checking } else { State::Verifying };
            self.reason = match self.changed.take() {
                Some(factor) => Reason::Changed(factor),
                None if self.records[offer.at].count() < VERIFIED => {
                    Reason::Fixed("measured so few times that noise may hide its cost: once more")
                }
                None => Reason::Fixed("measured long ago: it may have changed"),
            };
            return;
        }
        self.state = State::Sampling;
        self.samples += 1;
        let is_recalled = self.known().recalled(offer.at).is_some();
        self.ceiling = match is_recalled {
            true => offer.risk + self.records[default].level(),
            false => self.known().ceiling(offer.at),
        };
        let ratio = offer.cost / self.default_cost;
        self.reason = match advice {
            _ if is_recalled => Reason::Fixed("it was the best in an earlier run"),
            Some(step) if self.expected.is_empty() => Reason::Said(step.why().to_owned()),
            Some(_) => Reason::Predicted(ratio),
            None => Reason::Expected(ratio),
        };
    }

    /// Runs the best until new evidence comes.
    fn hold(&mut self, before: usize, least: f64) {
        let (now, default) = (self.account.executions(), self.candidates.default_index());
        let best = self.best;
        let is_verified = best == default || self.records[best].count() >= VERIFIED;
        let state = if is_verified { State::Holding } else { State::Verifying };
        let after = if is_verified && !self.in_burst { (now / 8).clamp(1, LONGEST) } else { 1 };
        // Or when a look at the default is worth its cost.
        let loss = self.posterior(default).mean() - least + self.returns();
        // Measured costs may be zero or differ without limit: then no look is worth its cost.
        let look = ((loss / least / LOOKS).max(LEAST_LOOK as f64) as u64).saturating_add(1);
        let next_look = self.records[default].seen().saturating_add(look);
        self.due = now.saturating_add(after).min(next_look.max(now.saturating_add(1)));
        if (self.state, self.next) == (state, best) && before == best {
            return;
        }
        (self.state, self.next) = (state, best);
        self.changed = None;
        let measured = self.measured.all().len();
        self.reason = if best != default {
            Reason::Best(least / self.default_cost, measured)
        } else if before != default {
            let ratio = self.posterior(before).mean() / self.default_cost;
            Reason::RolledBack(self.candidates.all()[before], ratio)
        } else {
            Reason::NoneBetter(measured)
        };
    }

    /// Whether the default has two executions that agree, or four: the first of a program is often cold.
    /// One is enough with recalled costs, because it agrees with an earlier run, and with predictions, which
    /// samples confirm. If a return to the default is costly, it needs as many as may be wanted later.
    fn default_is_known(&self) -> bool {
        let record = &self.records[self.candidates.default_index()];
        if record.count() > 0 && !(self.recalled.is_empty() && self.counted.is_empty()) {
            return !self.recalled.is_empty() || !self.expected.is_empty() || record.count() >= 2;
        }
        if self.rules.switch_back_cost > 0.0 {
            return record.count() >= KNOWN_WELL;
        }
        record.count() >= 4 || (record.count() >= 2 && record.spread() < LEAST_CHANGE / 2.0)
    }
}
