//! The rule: run what is expected to save most, within the budget.
//!
//! The value of one execution of a configuration is the saving that it may lead to, over the executions to
//! come, less its expected cost beyond the best. `docs/research/adaptation.md` has the model and the proof
//! of the bound.

use crate::posterior::{Belief, Source};
use crate::predict::Step;
use crate::reason::Reason;

use super::rules::State;
use super::{Controller, VERIFIED};

/// The least expected gain for which the default is left.
const LEAST_GAIN: f64 = 0.01;
/// The same where only bursts at the default speak for another configuration.
const LEAST_GAIN_OF_BURSTS: f64 = 0.2;
/// The executions that a gain is expected to last, at least and at most. As many as have run so far is the
/// usual guess; a program that has just begun runs some more, and phases change.
const HORIZON: (f64, f64) = (50.0, 512.0);
/// The part of the cost that looks at the default may take while another configuration is held. It is the
/// chance of a change in an execution, times the executions that the gain would last, times the gain:
/// 1 in 12,800, 256, and a quarter.
const LOOKS: f64 = 0.005;
/// The same for looks at others while the default is held, over the executions there so far: the more there
/// were, the less likely it is that all of them were disturbed.
const OTHER_LOOKS: f64 = 0.0025;
/// The same for each unit of the noise's variance (as a part of the squared cost): noise may have hidden a
/// gain. Tuned.
const HIDDEN: f64 = 0.3;
/// The least executions between two looks without new evidence.
const LEAST_LOOK: u64 = 16;
/// The spread, as a part of the cost, up to which executions agree.
const AGREE: f64 = 0.05;
/// The executions at the default before it is left, if returns to it are costly.
const KNOWN_WELL: u32 = 5;
/// The most executions between two evaluations of the rule.
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
        if !self.default_is_known() {
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
        self.posterior.is_new |= self.best != before;
        let executions = now as f64;
        let terms = Terms {
            now,
            least: self.posterior.mean(self.best, now),
            horizon: executions.clamp(HORIZON.0, HORIZON.1),
            credit: self.credit(),
        };
        let offers = self.offers(&terms, step.as_ref(), in_burst);
        let Some(target) = offers.iter().max_by(|a, b| a.value.total_cmp(&b.value)) else {
            return self.hold(&terms, before, in_burst);
        };
        let payable = offers.iter().filter(|offer| offer.risk <= terms.credit.max(0.0));
        let payable = payable.map(|offer| (offer, self.worth(offer, &offers, &terms)));
        let chosen = payable.filter(|(_, worth)| *worth > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
        match chosen {
            Some((offer, _)) => self.run(offer, now, step),
            None => self.wait(target, &offers, &terms),
        }
    }

    /// Whether the default has two executions that agree, or four: the first of a program is often cold.
    /// One is enough with recalled costs, because it agrees with an earlier run, and with predictions from its
    /// counts, which samples confirm. If a return to the default is costly, it needs as many as may be wanted
    /// later.
    fn default_is_known(&self) -> bool {
        let hypotheses = self.posterior.hypotheses.iter().flatten();
        let is_enough = |source| source == Source::Memory || self.advice.has_counts();
        let record = self.posterior.record(self.default_index());
        let needed = match hypotheses.map(|told| told.source).any(is_enough) {
            true => 1,
            false if self.rules.switch_back_cost > 0.0 => KNOWN_WELL,
            false if record.spread() < AGREE || self.advice.has_counts() => 2,
            false => 4,
        };
        record.count() >= needed
    }

    /// The measured configuration with the least posterior mean, if the default is worse by a clear gain.
    fn cheapest(&self, now: u64) -> usize {
        let (posterior, default) = (&self.posterior, self.default_index());
        let usual = posterior.mean(default, now);
        let (mut best, mut least) = (default, usual);
        for &at in posterior.measured().iter().filter(|&&at| at != default) {
            let (cost, risk) = (posterior.mean(at, now), self.risk(at));
            if risk > 0.0 && at != self.next && risk > self.credit() {
                continue;
            }
            // Whether bursts alone make it better is known less well.
            let by_bursts = posterior.level(at) > posterior.usual();
            let gain = if by_bursts { LEAST_GAIN_OF_BURSTS } else { LEAST_GAIN };
            if cost < least.min(usual * (1.0 - gain)) {
                (best, least) = (at, cost);
            }
        }
        best
    }

    /// The offers that are worth their expected cost, of all configurations but the best.
    fn offers(&mut self, terms: &Terms, step: Option<&Step>, in_burst: bool) -> Vec<Offer> {
        let (now, least) = (terms.now, terms.least);
        // During a burst a sample shows nothing.
        let may_sample = !in_burst && self.samples < self.rules.budget;
        if may_sample {
            self.posterior.apply_laws(self.best);
        }
        let posterior = &self.posterior;
        let default = self.default_index();
        let wished = step.and_then(|step| self.wished(step, terms.credit));
        let others = posterior.measured().iter().filter(|&&at| at != default);
        let looked = others.map(|&at| posterior.record(at).seen()).max().unwrap_or(0);
        let offer = |at: usize| {
            let record = posterior.record(at);
            let mut belief = posterior.belief(at, (least, self.next), now);
            if let (false, None, Some(wished)) =
                (record.is_measured(), posterior.hypotheses[at], &wished)
            {
                // The predictor has a choice and no costs.
                belief.gain = belief.gain.max(0.1 * least);
                if !wished.contains(&at) {
                    return None;
                }
            }
            // The default may have changed unseen, and noise may have hidden a gain elsewhere.
            let noise = posterior.noise();
            let (part, since) = match (at == default, self.best == default) {
                (true, _) => (LOOKS, record.seen()),
                (false, true) if record.is_measured() => {
                    let part = OTHER_LOOKS + HIDDEN * noise * noise;
                    (part / f64::from(record.count()), looked)
                }
                (false, _) => (0.0, now),
            };
            let age = now.saturating_sub(since);
            let look = if age < LEAST_LOOK { 0.0 } else { part * age as f64 * least };
            let returns = if at == default { self.returns() } else { 0.0 };
            let loss = (belief.cost - least).max(0.0) + returns;
            let value = terms.horizon * belief.gain + look - loss;
            (value > 0.0).then(|| Offer { at, belief, value, risk: self.risk(at) })
        };
        let all = (0..posterior.candidates.all().len()).filter(|&at| at != self.best);
        all.filter(|&at| may_sample || posterior.record(at).is_measured())
            .filter_map(offer)
            .collect()
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
        let record = self.posterior.record(offer.at);
        if record.is_measured() {
            let is_default = offer.at == self.default_index();
            self.state = if is_default { State::Checking } else { State::Verifying };
            self.reason = match self.reason {
                Reason::Changed(factor) => Reason::Changed(factor),
                _ if record.count() < VERIFIED => {
                    Reason::Fixed("measured so few times that noise may hide its cost: once more")
                }
                _ => Reason::Fixed("measured long ago: it may have changed"),
            };
            return;
        }
        self.state = State::Sampling;
        self.samples += 1;
        let ratio = offer.belief.cost / self.default_cost;
        let told = self.posterior.hypotheses[offer.at].map(|told| told.source);
        self.reason = match (told, step) {
            (Some(Source::Memory), _) => Reason::Fixed("it was the best in an earlier run"),
            (Some(Source::Forecast), _) => Reason::Predicted(ratio),
            (None, Some(step)) if !self.advice.is_disproved => Reason::Said(step.why().to_owned()),
            (None, _) => Reason::Expected(ratio),
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
            target: self.posterior.candidates.all()[target.at],
            risk: target.risk / self.default_cost,
            credit: terms.credit.max(0.0) / self.default_cost,
            measured: self.posterior.measured().len(),
        };
    }

    /// Runs the best until new evidence comes.
    fn hold(&mut self, terms: &Terms, before: usize, in_burst: bool) {
        let (now, least) = (terms.now, terms.least);
        let (posterior, best) = (&self.posterior, self.best);
        let default = self.default_index();
        let is_verified = best == default || posterior.record(best).count() >= VERIFIED;
        let state = if is_verified { State::Holding } else { State::Verifying };
        let after = if is_verified && !in_burst { (now / 8).clamp(1, LONGEST) } else { 1 };
        // Or when a look at the default is worth its cost.
        let loss = posterior.mean(default, now) - least + self.returns();
        // Measured costs may be zero or differ without limit: then no look is worth its cost.
        let look = ((loss / least / LOOKS).max(LEAST_LOOK as f64) as u64).saturating_add(1);
        let next_look = posterior.record(default).seen().saturating_add(look);
        self.due = (now + after).min(next_look.max(now + 1));
        let is_told = !matches!(self.reason, Reason::Changed(_));
        if is_told && (self.state, self.next, before) == (state, best, best) {
            return;
        }
        let measured = posterior.measured().len();
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
    pub(super) fn risk(&self, at: usize) -> f64 {
        let posterior = &self.posterior;
        match (at == self.default_index(), posterior.record(at).is_measured()) {
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
