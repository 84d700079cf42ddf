//! Measures the default again if the regret budget is overdrawn.

use super::held_run::HeldRun;
use super::limits::{KNOWN_WELL, VERIFIED};
use super::rules::State;
use super::state_machine::Controller;
use crate::predict::Configuration;

impl Controller {
    /// Adds a later cost to a reported execution at `on`. For example, its threads ended and were
    /// started again for another phase. The account books the cost as a loss.
    ///
    /// A `recurring` cost also counts against `on`, except for the samples of a search, because it
    /// may return with each execution. The cost does not recur if only the phase itself went
    /// elsewhere and back, or if the other phase is new.
    ///
    /// It ignores a cost that is not finite and above 0, and a cost at the default. It also ignores
    /// a configuration that the phase does not have.
    pub fn defer_cost(&mut self, on: Configuration, cost: f64, recurring: bool) {
        let Some(at) = self.index(on) else { return };
        if !(cost.is_finite() && cost > 0.0) || at == self.candidates.default_index() {
            return;
        }
        self.account.reserve(cost);
        self.spent += if self.state == State::Holding { 0.0 } else { cost };
        self.held_run.attribute(at, cost, recurring);
        if recurring && self.state != State::Sampling {
            self.records[at].amend(cost);
        }
    }

    /// Whether the regret budget is overdrawn, and the current stay makes it worse.
    #[inline]
    pub(super) fn over_budget(&self) -> bool {
        let HeldRun { at, tally, lost, .. } = self.held_run;
        let default = self.candidates.default_index();
        at == self.next
            && at != default
            && tally.executions >= VERIFIED
            && self.account.lost() > lost
            && self.account.credit(self.default_cost()) < 0.0
    }

    /// Measures the default again: it may have become more costly.
    #[cold]
    pub(super) fn remeasure(&mut self) {
        if self.costly.is_some() {
            let why = format!("{} was no cheaper on average: rolled back", self.next());
            return self.back_to_default(why);
        }
        if !self.excused && self.held_run.gains_but_for_one() {
            // The loss may be an accident. A second one is not, and until then no more may be lost.
            self.excused = true;
            self.held_run.lost = self.account.lost();
            return;
        }
        self.remeasuring = Some(self.state);
        self.check();
        self.why =
            "the account is overdrawn: checks whether the default has become more costly".into();
    }

    /// An execution at the default was measured; `back` is the state before.
    pub(super) fn while_remeasuring(&mut self, back: State) {
        if self.fresh.count() < KNOWN_WELL {
            return;
        }
        self.remeasuring = None;
        let HeldRun { at, tally, default, lost } = std::mem::take(&mut self.held_run);
        let (executions, count) = (tally.executions, f64::from(tally.executions));
        let (mean, now) = (tally.mean(), self.fresh.level().max(self.default_on_average()));
        let on = self.candidates.all()[at];
        if mean < now {
            let increase = (now * count - default).min(self.account.lost() - lost);
            self.account.reprice(increase.max(0.0));
            (self.state, self.next) = (back, at);
            self.why = format!(
                "costs {:.3} of {} on average, which has become more costly",
                mean / now,
                self.candidates.default()
            );
            return;
        }
        self.hold(self.candidates.default_index());
        self.why = format!(
            "{on} cost {:.3} of it on average over {executions} executions: rolled back",
            mean / now
        );
    }

    /// Forgets the stay, whose costs are out of date.
    pub(super) fn end_held_run(&mut self) {
        self.held_run = HeldRun::default();
        self.remeasuring = None;
    }
}
