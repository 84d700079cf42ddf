//! Executions become evidence.

use crate::objective::Execution;
use crate::posterior::{News, Source};
use crate::predict::Configuration;
use crate::reason::Reason;
use pacman_events::{Error, ErrorKind, Result};

use super::{Controller, State};

/// Invalid executions in a row after which the phase is not adapted.
const NONSENSE: u32 = 3;
/// The usual time over the break-even time from which a phase that was too short is adapted.
const LONG: f64 = 4.0;
/// The most that an execution may cost over its bound, with what noise adds: twice noise of 10 %.
const DISTURBED: f64 = 1.2;

impl Controller {
    /// Reports an execution at `on` with its cost and its time in seconds.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] unless both are from 1e-30 to 1e30: the execution is left out, and
    /// after three in a row the phase runs at the default for good;
    /// [`ErrorKind::NoSuchPlace`] if `on` is not, or no longer, a candidate.
    #[inline]
    pub fn finished(&mut self, on: Configuration, cost: f64, seconds: f64) -> Result<()> {
        self.finished_with(on, cost, &Execution::seconds(seconds))
    }

    /// Like [`finished`](Self::finished), with more data of the execution. Its [busy
    /// time](Execution::with_busy) limits the loss on fewer threads.
    ///
    /// # Errors
    /// As [`finished`](Self::finished).
    pub fn finished_with(
        &mut self,
        on: Configuration,
        cost: f64,
        execution: &Execution,
    ) -> Result<()> {
        let Some(at) = self.index(on) else {
            let why =
                format!("an execution at {on} is left out: the phase has no such configuration");
            return Err(Error::new(ErrorKind::NoSuchPlace, why));
        };
        if !(is_measurable(cost) && is_measurable(execution.seconds)) {
            return Err(self.refuse(cost, execution.seconds));
        }
        self.invalid = 0;
        let in_burst = self.observe(at, cost, execution);
        let usual = self.posterior.usual() * self.seconds_per_cost;
        let is_due = match self.state {
            State::Off => false,
            State::LeftAlone => usual > LONG * self.rules.break_even,
            _ => self.account.executions() >= self.due,
        };
        if is_due {
            self.decide(in_burst);
        }
        Ok(())
    }

    /// Reports executions at `on` that took `seconds` each, in this order. The cost must be time.
    ///
    /// # Errors
    /// As [`finished`](Self::finished): the first error. The executions after it are reported as well.
    pub fn finished_together(&mut self, on: Configuration, seconds: &[f64]) -> Result<()> {
        let each = seconds.iter().map(|&seconds| self.finished(on, seconds, seconds));
        each.fold(Ok(()), Result::and)
    }

    /// Reports an execution at `on` that is not typical, such as the first on newly started
    /// threads. Its cost is in the account, but does not affect decisions.
    ///
    /// It ignores a cost that is not from 1e-30 to 1e30, and a cost at a configuration that the
    /// phase does not have.
    pub fn outlier(&mut self, on: Configuration, cost: f64) {
        if let Some(at) = self.index(on).filter(|_| is_measurable(cost)) {
            self.book(at, cost, 1.0);
        }
    }

    /// Adds a later cost to a reported execution at `on`. For example, its threads ended and were
    /// started again for another phase. The account books the cost as a loss.
    ///
    /// A `recurring` cost also counts against `on`, except for samples, because it may return with each
    /// execution. The cost does not recur if only the phase itself went elsewhere and back, or if the other
    /// phase is new. Then it is the cost of a return to the default.
    ///
    /// It ignores a cost that is not from 1e-30 to 1e30, and a cost at the default. It also ignores
    /// a configuration that the phase does not have.
    pub fn defer_cost(&mut self, on: Configuration, cost: f64, recurring: bool) {
        let at = self.index(on).filter(|&at| is_measurable(cost) && at != self.default_index());
        let Some(at) = at else { return };
        self.account.reserve(cost);
        if !recurring {
            self.return_cost = cost;
        } else if self.state != State::Sampling {
            self.posterior.bursts_at(at).charge(cost);
            self.due = 0;
        }
    }

    /// Adds an execution to the account and to the evidence. Returns whether a burst hit it.
    #[inline]
    fn observe(&mut self, at: usize, cost: f64, execution: &Execution) -> bool {
        let is_default = at == self.default_index();
        let is_first = !self.posterior.is_measured(at);
        let now = self.account.executions() + 1;
        let burst_above = if is_first && !is_default { self.disturbed(at, cost) } else { None };
        if let Some(ceiling) = burst_above {
            // The default uses all that a sample does, so the burst would have hit it as well.
            self.book(at, cost, cost / ceiling);
            self.posterior.bursts_at(at).add(cost - ceiling, now);
            self.due = now;
            return true;
        }
        self.book(at, cost, 1.0);
        if is_default {
            let weight = if is_first { 1.0 } else { 0.125 };
            self.seconds_per_cost += weight * (execution.seconds / cost - self.seconds_per_cost);
        }
        let busy = execution.parallelism().unwrap_or(f64::INFINITY);
        let level = self.posterior.level(at);
        match self.posterior.observe(at, cost, busy, now) {
            News::Excess(excess) => {
                self.due = if excess > 0.0 { now } else { self.due };
                return excess > 0.0;
            }
            News::Change(factor, _) => {
                (self.was_disturbed, self.reason) = (false, Reason::Changed(factor));
                self.posterior.is_new = true;
                let changed_elsewhere = std::mem::replace(&mut self.changed_elsewhere, !is_default);
                if is_default {
                    if changed_elsewhere {
                        // Half of what the four executions that showed the change seemed to lose: it is unknown in how
                        // many of them the default had changed, too.
                        self.account.reprice(2.0 * (factor - 1.0).max(0.0) * level);
                    }
                    self.forget_predictions();
                }
            }
        }
        self.due = now;
        false
    }

    /// The first execution of a configuration: it may disprove the hypothesis of its cost. If a burst hit it, it cost
    /// more than it can, and the ceiling is returned. Once, another follows; then the bound is wrong.
    #[cold]
    fn disturbed(&mut self, at: usize, cost: f64) -> Option<f64> {
        if let Some(hypothesis) = self.posterior.hypotheses[at] {
            if cost > hypothesis.most * self.posterior.usual() {
                self.posterior.forget(hypothesis.source);
                self.predictor.take_if(|_| hypothesis.source == Source::Forecast);
            }
            if hypothesis.source == Source::Memory {
                // The earlier run measured other work.
                return None;
            }
        }
        let ceiling = self.posterior.ceiling(at);
        let is_disturbed = cost > DISTURBED * ceiling && !self.was_disturbed;
        self.was_disturbed |= is_disturbed;
        is_disturbed.then_some(ceiling)
    }

    /// Adds an execution to the account. The default would have cost `times` its assumed cost.
    #[inline]
    fn book(&mut self, at: usize, cost: f64, times: f64) {
        if at == self.default_index() {
            return self.account.at_default(cost);
        }
        // Without an estimate there is nothing to compare with: the choice dates from before a change.
        let estimate = if self.default_cost.is_finite() { self.default_cost } else { cost };
        self.account.elsewhere(cost, estimate * times);
        let threads = self.candidates().all()[at].threads();
        self.reduced += u64::from(threads < self.candidates().default().threads());
    }

    #[cold]
    fn refuse(&mut self, cost: f64, seconds: f64) -> Error {
        self.invalid += 1;
        let bad = if seconds.is_finite() && seconds > 0.0 { cost } else { seconds };
        let mut why = format!("an execution of {bad} is left out: it must be finite and above 0");
        if self.invalid >= NONSENSE {
            (self.state, self.next) = (State::Off, self.default_index());
            let invalid = format!("{NONSENSE} executions in a row had no valid time");
            self.reason = Reason::Said(invalid);
            why += "; the phase runs unadapted from now on";
        }
        Error::new(ErrorKind::InvalidInput, why)
    }
}

/// Whether `value` can be a cost, a time in seconds or a ratio of two. No clock or meter gives anything beyond
/// 1e-30 and 1e30, and squares and sums of values within stay finite.
pub(super) fn is_measurable(value: f64) -> bool {
    (1e-30..=1e30).contains(&value)
}
