//! Searches, from the first execution to a verified configuration.

use super::limits::{CLEAR, KNOWN_WELL, LEAST_DRIFT, LEAST_GAIN, REST, VERIFIED};
use super::rules::State;
use super::state_machine::Controller;
use crate::search::Move;

/// The spread from which executions disagree.
const DISAGREE: f64 = LEAST_DRIFT / 2.0;
/// A sample above this multiple of its upper bound was disturbed.
const IMPOSSIBLE: f64 = 1.2;

impl Controller {
    pub(super) fn while_sampling(&mut self) {
        let default = self.candidates.default_index();
        self.judge(self.next);
        self.doubt_recalled();
        self.doubt_sample();
        self.recall_if_alike();
        let mut advice = None;
        if !self.default_is_known() {
            if self.state == State::Sampling && !self.counted.is_empty() {
                advice = self.consult();
            }
            if !self.is_predicted() {
                self.next = default;
                return;
            }
        }
        // While the budget cannot pay for a sample, the best one runs if it beats the default.
        let stays = self.next == default || self.seems_better(self.next);
        let level = self.records[default].level();
        // How long to wait follows from the default's level: with another level, it is decided again.
        let as_before = (level - self.waits_at).abs() <= self.waits_at * LEAST_DRIFT;
        if self.account.executions() < self.rest_until && stays && as_before {
            return;
        }
        if self.seconds.level() < self.rules.break_even {
            self.state = State::LeftAlone;
            self.next = default;
            self.why = format!(
                "{:.3} ms is too short: below {:.3} ms adapting costs more than it may gain",
                self.seconds.level() * 1e3,
                self.rules.break_even * 1e3
            );
            return;
        }
        if self.state == State::Verifying {
            return self.settle("three executions there or more say so");
        }
        if self.samples >= self.rules.budget {
            // The budget could not pay for them, and verifying asks for no budget.
            self.forget_recalled();
            return self.settle("a search takes no more samples");
        }
        let known = self.known();
        let credit = self.account.credit(known.level(default)) - self.doubt();
        let again = self.remembered.filter(|(at, _)| !self.records[*at].is_measured());
        let step = match again {
            Some((at, ratio)) if (ratio * 1.2 - 1.0) * known.level(default) <= credit => {
                Move::Run { at, why: "it was the best before the phase changed".into() }
            }
            _ => match self.try_recalled(credit) {
                Some(step) => step,
                None => match advice.or_else(|| self.consult()) {
                    Some(step) => self.guided(step, credit),
                    None => self.known().climb(credit),
                },
            },
        };
        match step {
            Move::Run { at, why } => {
                self.samples += 1;
                self.ceiling = self.known().ceiling(at);
                self.recalled_limit = self.recalled_ceiling(at);
                self.next = at;
                self.why = why;
            }
            Move::Wait { at, risk } => self.wait(at, risk),
            Move::Decide { why } => self.settle(&why),
        }
    }

    /// Excludes a sample far above its upper bound, because it was disturbed. Its cost stays in the
    /// account. Once in a search the sample is repeated.
    fn doubt_sample(&mut self) {
        let sample = &self.records[self.next];
        let is_first = self.state == State::Sampling && sample.count() == 1;
        if is_first && !self.doubted && sample.level() > IMPOSSIBLE * self.ceiling {
            self.records[self.next].forget();
            self.doubted = true;
        }
    }

    /// Runs the best configuration so far until the budget can pay for a sample.
    fn wait(&mut self, at: usize, risk: f64) {
        let known = self.known();
        let (best, default) = (known.best(), known.default);
        let level = known.level(default);
        let waits = self.account.waits(risk + self.doubt(), level);
        let is_seen = !self.records[best].is_recalled();
        self.next = if is_seen && self.seems_better(best) { best } else { default };
        // Gains fill the account sooner than waiting does, so this looks again after half of the
        // time.
        let look = waits.map_or(REST.1, |waits| (waits / 2).clamp(1, REST.1));
        (self.rest_until, self.waits_at) = (self.account.executions() + look, level);
        self.why = format!(
            "a sample of {} may cost as much as {:.3} more executions; the budget allows {:.3} now",
            self.candidates.all()[at],
            risk / level,
            (self.account.credit(level) - self.doubt()).max(0.0) / level
        );
    }

    /// Ends a search: verifies the best, or holds it, or the default if it is no worse.
    fn settle(&mut self, why: &str) {
        let known = self.known();
        let (best, default) = (known.best(), known.default);
        let measured = self.records.iter().filter(|record| record.is_measured()).count();
        let gain = self.gain(best);
        let gains = gain.is_some();
        if gains && self.records[best].count() < VERIFIED {
            self.state = State::Verifying;
            self.next = best;
            self.why = format!("the best of {measured} measured, run again to be sure");
            return;
        }
        // An execution at the default costs only the gain. If the gain is small against the noise,
        // the default is measured as well as the other. If only noise may speak against the other,
        // both are measured once more.
        let little = gain.is_some_and(|gain| gain < 4.0 * CLEAR * self.noise_of(best));
        let maybe = !gains && known.level(best) < known.level(default) * (1.0 - LEAST_GAIN);
        let again = [(best, maybe), (default, little || maybe)].into_iter();
        let mut again = again.filter(|&(at, is)| is && self.records[at].count() < KNOWN_WELL);
        if let Some((at, _)) = again.next() {
            self.state = State::Verifying;
            self.next = at;
            self.why = format!("the best of {measured} measured is near the default: once more");
            return;
        }
        let at = if gains { best } else { default };
        self.why = match gains {
            true => format!("the best of {measured} measured; {why}"),
            false => format!("of {measured} measured no other is clearly better; {why}"),
        };
        self.hold(at);
        self.noise_may_hide = !gains && self.noise() > DISAGREE;
    }

    /// Whether the default has two executions that agree, or four: the first of a program is often cold.
    /// One is enough if costs are recalled, because it agrees with an earlier run. If a return to the
    /// default is costly, it needs as many as a search may want later.
    fn default_is_known(&self) -> bool {
        let record = &self.records[self.candidates.default_index()];
        if self.recalls {
            return true;
        }
        if self.rules.switch_back_cost > 0.0 && self.remembered.is_none() {
            return record.count() >= KNOWN_WELL;
        }
        record.count() >= 4 || (record.count() >= 2 && record.spread() < DISAGREE)
    }

    /// Whether the configuration counts as better until more is known: it has cost less than the
    /// default.
    fn seems_better(&self, at: usize) -> bool {
        let default = self.records[self.candidates.default_index()].level();
        self.records[at].level() < default * (1.0 - LEAST_GAIN)
    }

    /// The gain at `at` as a part of the default's cost; `None` if it is within noise.
    ///
    /// A configuration that was held before a drift needs no margin for noise.
    fn gain(&self, at: usize) -> Option<f64> {
        let default = self.records[self.candidates.default_index()].level();
        let ratio = self.records[at].level() / default;
        let is_known = self.remembered.is_some_and(|(held, _)| held == at);
        // Both costs of a ratio are uncertain in proportion to their size.
        let noise = if is_known { 0.0 } else { CLEAR * self.noise_of(at) * ratio };
        let gain = 1.0 - ratio;
        (gain > LEAST_GAIN.max(noise)).then_some(gain)
    }

    /// The uncertainty of a sample's loss, because the default's cost is only known to its spread.
    ///
    /// Without this term the controller would overdraw the budget. The spread counts up to
    /// `MOST_DOUBT`. Saving up for more would take longer than the phase may last, and would forgo
    /// its gain.
    ///
    /// A reserve of 5 % of the allowed loss always stays. The risk of a sample is computed from
    /// shares of the machine. Real samples cost some percent more, as with a cold cache or a
    /// thread that wakes up late.
    fn doubt(&self) -> f64 {
        const MOST_DOUBT: f64 = 0.02;
        const RESERVE: f64 = 0.05;
        let level = self.records[self.candidates.default_index()].level();
        let reserve = RESERVE * self.rules.bound.steady * (self.account.baseline() + level);
        self.noise().min(MOST_DOUBT) * level + reserve
    }

    fn noise_of(&self, at: usize) -> f64 {
        self.noise().max(self.records[at].spread())
    }
}
