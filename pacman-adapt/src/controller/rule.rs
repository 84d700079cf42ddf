//! The rule: run what is expected to save most, within the budget.
//!
//! The value of an execution of a configuration is its possible saving in later executions, less its
//! expected cost beyond the best. `docs/research/adaptation.md` has the model and the proof
//! of the bound.

use crate::posterior::{Belief, Source};
use crate::predict::Step;
use crate::reason::Reason;

use super::{Controller, State, VERIFIED};

/// The executions that a gain is expected to last, at least and at most. As many as have run so far is the
/// usual guess; a program that has just begun runs some more, and phases change.
const HORIZON: (f64, f64) = (50.0, 512.0);
/// The least gains for which the default is left: noise alone would leave it for less. Where only its bursts speak
/// for that, more: few bursts are weak evidence, and leaving it then breaks the bound with outliers.
const LEAST_GAIN: (f64, f64) = (0.01, 0.2);
/// The part of the cost that looks at the default may take while another configuration is held. It is the
/// chance of a change in an execution, times the executions that the gain would last, times the gain:
/// 1 in 12,800, 256, and a quarter. While the default is held, others are looked at for half of it.
const LOOKS: f64 = 0.005;
/// The same for each unit of the noise's variance, because noise may have hidden a gain. Tuned.
const HIDDEN: f64 = 0.3;
/// The least executions between two looks without new evidence: equal costs would alternate with less.
const LEAST_LOOK: u64 = 16;
/// The spread, as a part of the cost, up to which executions agree: half of what is a change.
const AGREE: f64 = 0.05;
/// The part of the best cost that a wish of a predictor without forecasts is expected to gain.
const WISHED: f64 = 0.1;
/// The most executions between two evaluations of the rule, so that they cost little in comparison with a held execution.
const LONGEST: u64 = 64;
/// The part of the allowed loss that is never risked. The bound of a sample's cost follows from shares
/// of the machine. Real samples cost some percent more, as with a cold cache or a thread that wakes up
/// late.
const RESERVE: f64 = 0.05;

/// The value of one execution of a configuration.
#[derive(Clone, Copy, Debug)]
struct Offer {
    at: usize,
    /// The expected cost, and the expected saving of each execution to come.
    belief: Belief,
    /// The saving over the horizon, less the expected loss of this execution.
    value: f64,
    /// The most that the execution may cost beyond one at the default.
    risk: f64,
}

/// The costs by which the rule compares offers.
struct Terms {
    now: u64,
    /// The cost of the best.
    least: f64,
    /// The executions for which a saving is expected to last.
    horizon: f64,
    /// The loss that the next execution may have.
    credit: f64,
}

impl Controller {
    /// Evaluates the rule.
    #[cold]
    pub(super) fn decide(&mut self, in_burst: bool) {
        let (now, default) = (self.account.executions(), self.default_index());
        self.recall_if_alike();
        let step = self.consult();
        if self.posterior.record(default).count < self.needed() {
            (self.next, self.due) = (default, now + 1);
            return;
        }
        let usual = self.posterior.usual() * self.seconds_per_cost;
        if usual < self.rules.break_even {
            (self.state, self.next, self.best) = (State::LeftAlone, default, default);
            self.reason = Reason::TooShort(usual, self.rules.break_even);
            return;
        }
        self.default_cost = self.posterior.default_cost(now);
        let best = self.cheapest(now);
        let before = std::mem::replace(&mut self.best, best);
        self.posterior.is_new |= best != before;
        let terms = Terms {
            now,
            least: self.posterior.mean(best, now),
            horizon: (now as f64).clamp(HORIZON.0, HORIZON.1),
            credit: self.credit(),
        };
        let offers = self.offers(&terms, step.as_ref(), in_burst);
        let Some(target) = offers.iter().max_by(|a, b| a.value.total_cmp(&b.value)) else {
            return self.hold(&terms, before);
        };
        let payable = offers.iter().filter(|offer| offer.risk <= terms.credit.max(0.0));
        let payable = payable.map(|offer| (offer, self.worth(offer, &offers, &terms)));
        let chosen = payable.filter(|(_, worth)| *worth > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
        match chosen {
            Some((offer, _)) => self.run(offer, now, step),
            None => self.wait(target, &offers, &terms),
        }
    }

    /// The executions that the default needs: two that agree, or four, because the first of a program is often cold.
    /// One is enough with recalled costs, because it agrees with an earlier run, and with predictions from its counts,
    /// which samples confirm. Where a return to it is costly, its median must be as good as it gets.
    fn needed(&self) -> u32 {
        let hypotheses = self.posterior.hypotheses.iter().flatten();
        let is_recalled = hypotheses.clone().any(|hypothesis| hypothesis.source == Source::Memory);
        let record = self.posterior.record(self.default_index());
        let is_predicted = !self.counted.is_empty() && hypotheses.count() > 0;
        match is_recalled || is_predicted {
            true => 1,
            false if !self.counted.is_empty() => 2,
            false if self.rules.switch_back_cost > 0.0 => 5,
            false if record.spread() < AGREE => 2,
            false => 4,
        }
    }

    /// The measured configuration with the least posterior mean, if its risk is within the credit.
    fn cheapest(&self, now: u64) -> usize {
        let (mut best, credit) = (self.default_index(), self.credit());
        let usual = self.posterior.mean(best, now);
        let mut least = usual;
        for at in self.posterior.measured() {
            let (cost, risk) = (self.posterior.mean(at, now), self.risk(at));
            let by_bursts = self.posterior.level(at) > self.posterior.usual();
            let gain = if by_bursts { LEAST_GAIN.1 } else { LEAST_GAIN.0 };
            if cost < least.min(usual * (1.0 - gain))
                && (risk <= 0.0 || at == self.next || risk <= credit)
            {
                (best, least) = (at, cost);
            }
        }
        best
    }

    /// The offers that are worth their expected cost, of all configurations but the best.
    fn offers(&mut self, terms: &Terms, step: Option<&Step>, in_burst: bool) -> Vec<Offer> {
        let (now, least) = (terms.now, terms.least);
        // During a burst a sample shows nothing.
        if !in_burst {
            self.posterior.apply_laws(self.best);
        }
        let posterior = &self.posterior;
        let default = self.default_index();
        let wish = step.map(|step| match step {
            Step::Sample { events, .. } if !events.is_empty() => None,
            _ => self.candidates().index(step.configuration()),
        });
        let looked = posterior.measured().filter(|&at| at != default);
        let looked = looked.map(|at| posterior.record(at).seen).max().unwrap_or(0);
        let offer = |at: usize| {
            let (record, is_measured) = (posterior.record(at), posterior.is_measured(at));
            let mut belief = posterior.belief(at, (least, self.next), now);
            if let (false, None, Some(wish)) = (is_measured, posterior.hypotheses[at], wish) {
                // The predictor has a choice and no costs.
                if !wish.is_some_and(|wish| posterior.contains(at, wish)) {
                    return None;
                }
                belief.gain = belief.gain.max(WISHED * least);
            }
            // The default may have changed unseen, and noise may have hidden a gain elsewhere.
            let (part, since) = match at == default {
                true => (LOOKS, record.seen),
                false if self.best == default && is_measured => {
                    let part = 0.5 * LOOKS + HIDDEN * posterior.noise().powi(2);
                    (part / f64::from(record.count), looked)
                }
                false => (0.0, now),
            };
            let age = now.saturating_sub(since);
            let look = if age < LEAST_LOOK { 0.0 } else { part * age as f64 * least };
            let returns = if at == default { self.returns() } else { 0.0 };
            let value =
                terms.horizon * belief.gain + look - (belief.cost - least).max(0.0) - returns;
            (value > 0.0).then(|| Offer { at, belief, value, risk: self.risk(at) })
        };
        let all = (0..posterior.candidates.all().len()).filter(|&at| at != self.best);
        all.filter(|&at| !in_burst || posterior.is_measured(at)).filter_map(offer).collect()
    }

    /// The value of an execution now. It gains until a greater gain can be paid for. If it loses, that comes
    /// later, and if it gains, at once: the risk is less, and the budget more.
    fn worth(&self, offer: &Offer, offers: &[Offer], terms: &Terms) -> f64 {
        let greater =
            |other: &&Offer| other.belief.gain > offer.belief.gain && other.risk > terms.credit;
        let instead = |other: &Offer| {
            // If fewer threads lose, still fewer of the same kind hardly gain, so nothing is put off.
            let is_further = self.posterior.is_further(offer.at, other.at);
            let puts_off = if is_further { 0.0 } else { offer.risk.max(0.0) };
            let waits = |risk| self.waits(risk, terms);
            match waits(other.risk).zip(waits(other.risk + puts_off)) {
                Some((until, then)) if until < terms.horizon => {
                    let short = (terms.horizon - until) * offer.belief.gain;
                    let fails = 1.0 - offer.belief.chance;
                    offer.value - short - other.belief.gain * (fails * then - until)
                }
                _ => offer.value,
            }
        };
        offers.iter().filter(greater).map(instead).fold(offer.value, f64::min)
    }

    /// The executions until the budget pays for `risk`; `None` if it never does. The best fills the account by
    /// its gains, the default by the limits alone.
    fn waits(&self, risk: f64, terms: &Terms) -> Option<f64> {
        let gains = self.default_cost - terms.least;
        if risk <= terms.credit.max(0.0) {
            return Some(0.0);
        }
        if self.best != self.default_index() && gains > 0.0 {
            return Some(((risk - terms.credit) / gains).ceil().min(1e6));
        }
        let waits = self.account.waits(risk + self.reserve(), self.default_cost);
        waits.map(|waits| waits as f64)
    }

    /// Runs an offer.
    fn run(&mut self, offer: &Offer, now: u64, step: Option<Step>) {
        (self.next, self.due) = (offer.at, now + 1);
        if self.posterior.is_measured(offer.at) {
            let is_default = offer.at == self.default_index();
            self.state = if is_default { State::Checking } else { State::Verifying };
            if !matches!(self.reason, Reason::Changed(_)) {
                let why =
                    "measured so few times or so long ago that its cost may be another: once more";
                self.reason = Reason::Fixed(why);
            }
            return;
        }
        self.state = State::Sampling;
        let ratio = offer.belief.cost / self.default_cost;
        let source = self.posterior.hypotheses[offer.at].map(|hypothesis| hypothesis.source);
        self.reason = match (source, step) {
            (Some(Source::Memory), _) => Reason::Fixed("it was the best in an earlier run"),
            (Some(Source::Forecast), _) => Reason::Predicted(ratio),
            (None, Some(step)) => Reason::Said(step.why().to_owned()),
            (None, None) => Reason::Expected(ratio),
        };
    }

    /// Runs the best until the budget pays for an offer.
    fn wait(&mut self, target: &Offer, offers: &[Offer], terms: &Terms) {
        let risks = offers.iter().map(|offer| offer.risk).filter(|&risk| risk > terms.credit);
        let least = risks.fold(f64::INFINITY, f64::min);
        let wait = self.waits(least, terms).map_or(LONGEST, |wait| wait as u64);
        (self.next, self.state) = (self.best, State::Sampling);
        // Gains fill the account sooner than waiting does, so this looks again after half of the time.
        self.due = terms.now + (wait / 2).clamp(1, LONGEST);
        self.reason = Reason::Unpaid {
            target: self.candidates().all()[target.at],
            risk: target.risk / self.default_cost,
            credit: terms.credit.max(0.0) / self.default_cost,
            measured: self.posterior.measured().count(),
        };
    }

    /// Runs the best until new evidence comes.
    fn hold(&mut self, terms: &Terms, before: usize) {
        let (now, least) = (terms.now, terms.least);
        let (posterior, best) = (&self.posterior, self.best);
        let default = self.default_index();
        let is_verified = best == default || posterior.record(best).count >= VERIFIED;
        let state = if is_verified { State::Holding } else { State::Verifying };
        let after = if is_verified { (now / 8).clamp(1, LONGEST) } else { 1 };
        // Or when a look at the default is worth its cost.
        let loss = posterior.mean(default, now) - least + self.returns();
        // Measured costs may be zero or differ without limit: then no look is worth its cost.
        let look = ((loss / least / LOOKS).max(LEAST_LOOK as f64) as u64).saturating_add(1);
        let next_look = posterior.record(default).seen.saturating_add(look);
        self.due = (now + after).min(next_look.max(now + 1));
        let is_told = !matches!(self.reason, Reason::Changed(_));
        if is_told && (self.state, self.next, before) == (state, best, best) {
            return;
        }
        let measured = posterior.measured().count();
        self.reason = if best != default {
            Reason::Best(least / self.default_cost, measured)
        } else if before != default {
            let ratio = posterior.mean(before, now) / self.default_cost;
            Reason::RolledBack(posterior.candidates.all()[before], ratio)
        } else {
            Reason::NoneBetter(measured)
        };
        (self.state, self.next) = (state, best);
    }

    /// The most that an execution may cost beyond one at the default. A burst that hits a first execution would
    /// have hit the default as well, so that is compared with the usual cost.
    fn risk(&self, at: usize) -> f64 {
        let posterior = &self.posterior;
        match (at == self.default_index(), posterior.is_measured(at)) {
            (true, _) => 0.0,
            (false, true) => posterior.most(at) - self.default_cost,
            (false, false) => posterior.most(at) - posterior.usual(),
        }
    }

    /// The loss that the next execution may have.
    fn credit(&self) -> f64 {
        self.account.credit(self.default_cost) - self.reserve()
    }

    /// The part of the allowed loss that is never risked.
    fn reserve(&self) -> f64 {
        RESERVE * self.rules.bound.steady * (self.account.baseline() + self.default_cost)
    }

    /// The additional cost of a return to the default: the latest, or what is known before the first.
    fn returns(&self) -> f64 {
        let is_elsewhere = self.best != self.default_index();
        let known = self.rules.switch_back_cost / self.seconds_per_cost;
        if self.return_cost == 0.0 && is_elsewhere { known } else { self.return_cost }
    }
}
