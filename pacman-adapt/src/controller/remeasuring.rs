//! Measures the default anew where the account is overdrawn.

use super::held_run::HeldRun;
use super::limits::{KNOWN_WELL, VERIFIED};
use super::rules::State;
use super::state_machine::Controller;
use crate::predict::Configuration;

impl Controller {
    /// An execution at `on`, told before, has cost `cost` more than was told with it: threads that
    /// it had end, say, and that were started again for another phase. That is lost. If it is `recurring`
    /// it counts against `on` as well, but for the samples of a search: others may be about to do as
    /// this phase does. It does not where only the phase itself went elsewhere and back, or where the
    /// other is new.
    ///
    /// Leaves out a cost that is not finite and above 0, one at the default, and one at a
    /// configuration that the phase does not have.
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

    /// Measures the default anew: it may be dearer than when it was measured last.
    #[cold]
    pub(super) fn remeasure(&mut self) {
        if self.costly.is_some() {
            let why = format!("{} was no cheaper on average: rolled back", self.next());
            return self.back_to_default(why);
        }
        if !self.excused && self.held_run.gains_but_for_one() {
            // It may be an accident. The next one is not, and until then no more may be lost.
            self.excused = true;
            self.held_run.lost = self.account.lost();
            return;
        }
        self.remeasuring = Some(self.state);
        self.check();
        self.why = "the account is overdrawn: is it the default that has become dearer?".into();
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
            let dearer = (now * count - default).min(self.account.lost() - lost);
            self.account.reprice(dearer.max(0.0));
            (self.state, self.next) = (back, at);
            self.why = format!(
                "costs {:.3} of {} on average, which has become dearer",
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
