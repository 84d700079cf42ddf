//! Executions become evidence.

use crate::error::{Error, ErrorKind, Result};
use crate::estimate::Shown;
use crate::objective::Execution;
use crate::predict::Configuration;
use crate::reason::Reason;

use super::limits::{DISPROVES, LEAST_GAIN, LONG, NONSENSE, REST, SHOWN, VERIFIED, is_measurable};
use super::rules::State;
use super::state::Controller;

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
        let seconds = execution.seconds;
        let Some(at) = self.index(on) else { return Err(no_such(on)) };
        if !(is_measurable(cost) && is_measurable(seconds)) {
            return Err(self.refuse(cost, seconds));
        }
        self.nonsense = 0;
        self.observe(at, cost, execution);
        match self.state {
            State::Off => {}
            State::LeftAlone => self.while_left_alone(seconds),
            _ if self.account.executions() < self.due => {}
            _ => self.decide(),
        }
        Ok(())
    }

    /// Reports executions at `on` that took `seconds` each, in this order. The cost must be time.
    /// It equals [`finished`](Self::finished) for each of them, but reconsiders the held
    /// configuration only once, after the last one.
    ///
    /// # Errors
    /// As `finished`: the first error. The executions after it are reported as well.
    ///
    /// ```
    /// use pacman_adapt::{Candidates, Controller, Rules};
    /// use pacman_topology::Topology;
    ///
    /// let machine = Topology::synthetic("2 cores")?;
    /// let mut phase = Controller::new(Candidates::of(&machine, None)?, Rules::default());
    /// while phase.drift_limit().is_none() {
    ///     let on = phase.next();
    ///     phase.finished(on, 1.0, 1.0)?;
    /// }
    /// let before = phase.account().executions();
    /// phase.finished_together(phase.next(), &[1.0, 1.01, 0.99])?;
    /// assert_eq!(phase.account().executions(), before + 3);
    /// # Ok::<(), pacman_adapt::Error>(())
    /// ```
    pub fn finished_together(&mut self, on: Configuration, seconds: &[f64]) -> Result<()> {
        let holds = self.state == State::Holding && on == self.next();
        if !(holds && seconds.iter().all(|&seconds| is_measurable(seconds))) {
            let mut first = Ok(());
            for &seconds in seconds {
                let told = self.finished(on, seconds, seconds);
                first = first.and(told);
            }
            return first;
        }
        self.nonsense = 0;
        for &seconds in seconds {
            self.observe(self.next, seconds, &Execution::seconds(seconds));
        }
        if !seconds.is_empty() && self.account.executions() >= self.due {
            self.decide();
        }
        Ok(())
    }

    /// Reports an execution at `on` that is not typical, such as the first on newly started
    /// threads. Its cost is in the account, but does not affect decisions.
    ///
    /// It ignores a cost that is not from 1e-30 to 1e30, and a cost at a configuration that the
    /// phase does not have.
    pub fn outlier(&mut self, on: Configuration, cost: f64) {
        let Some(at) = self.index(on) else { return };
        if is_measurable(cost) {
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
        let Some(at) = self.index(on) else { return };
        if !is_measurable(cost) || at == self.candidates.default_index() {
            return;
        }
        self.account.reserve(cost);
        if !recurring {
            self.charged += cost;
        } else if self.state != State::Sampling {
            self.bursts[1].add_recurring(cost);
            self.due = 0;
        }
    }

    /// Adds an execution to the account and to the estimates.
    #[inline]
    fn observe(&mut self, at: usize, cost: f64, execution: &Execution) {
        let default = self.candidates.default_index();
        let tolerance = self.tolerance();
        let (count, level) = (self.records[at].count(), self.records[at].level());
        let disturbed = count == 0 && at != default && self.is_disturbed(at, cost);
        // The default uses all that a sample does, so the burst would have hit it as well.
        self.book(at, cost, if disturbed { cost / self.ceiling } else { 1.0 });
        let now = self.account.executions();
        self.in_burst = disturbed;
        if disturbed {
            self.due = now;
            return self.bursts[1].add(cost - self.ceiling, now);
        }
        match count {
            0 => self.measured.add(at, &self.table),
            _ => self.vary((cost / level - 1.0).abs()),
        }
        let busy = execution.parallelism().unwrap_or(f64::INFINITY);
        if at == default && self.rules.break_even > 0.0 {
            self.seconds.push(execution.seconds, 0.0, now, tolerance, false);
        }
        let bursts = &mut self.bursts[usize::from(at != default)];
        let frequent = bursts.mean(0.0, 0.0, now) > 0.5 * level;
        match self.records[at].push(cost, busy, now, tolerance, frequent) {
            Shown::Excess(excess) => {
                // Whether a burst hit the very first execution cannot be told: everything is cold.
                if now > 1 {
                    bursts.add(excess, now);
                }
                if excess > 0.0 {
                    (self.due, self.in_burst) = (now, true);
                }
            }
            Shown::Resolved(factor) => {
                if at == default {
                    // Nobody knows which of the executions that showed the change had it at the default too.
                    let increase = 0.5 * f64::from(SHOWN) * (factor - 1.0).max(0.0) * level;
                    self.account.reprice(increase);
                    self.records.iter_mut().for_each(|record| record.follow(factor));
                }
                self.due = now;
            }
            Shown::Change(factor) => self.change(at, factor, now),
        }
        let moved = (self.records[at].level() - level).abs() > LEAST_GAIN * level;
        self.is_new |= moved || count < VERIFIED;
    }

    /// Whether a burst hit the first execution at a configuration: it cost more than it can. Once, another
    /// follows; then the bound is wrong.
    #[cold]
    fn is_disturbed(&mut self, at: usize, cost: f64) -> bool {
        if self.known().recalled(at).is_some() {
            if cost > self.ceiling {
                // The earlier run measured other work.
                self.recalled.clear();
            }
            return false;
        }
        self.judge(at, cost);
        let is_disturbed = cost > DISPROVES * self.ceiling && !self.doubted;
        self.doubted |= is_disturbed;
        is_disturbed
    }

    /// Another configuration may have changed by the same factor as `at`.
    #[cold]
    fn change(&mut self, at: usize, factor: f64, now: u64) {
        (self.due, self.is_new) = (now, true);
        if now < self.change_after {
            return;
        }
        self.change_after = now + self.rest;
        self.rest = (2 * self.rest).min(REST.1);
        self.changed = Some(factor);
        (self.samples, self.doubted) = (0, false);
        for (other, record) in self.records.iter_mut().enumerate() {
            if other != at {
                record.suspect(factor);
            }
        }
        if at == self.candidates.default_index() {
            self.forget_advice();
        }
    }

    /// Adds a deviation from the level to the noise. A burst is no noise, so what is beyond two standard
    /// deviations counts as that.
    #[inline]
    fn vary(&mut self, deviation: f64) {
        const MOST: f64 = 2.5;
        let (mean, count) = self.deviation;
        let count = (count + 1.0).min(64.0);
        let deviation = deviation.min(MOST * mean + 0.05);
        self.deviation = (mean + (deviation - mean) / count, count);
    }

    /// Adds an execution to the account. The default would have cost `times` its assumed cost.
    #[inline]
    fn book(&mut self, at: usize, cost: f64, times: f64) {
        let default = self.candidates.default_index();
        if at == default {
            if self.charged > 0.0 {
                self.return_cost = std::mem::take(&mut self.charged);
            }
            return self.account.at_default(cost);
        }
        // Without an estimate there is nothing to compare with: the choice dates from before a change.
        let estimate = if self.default_cost.is_finite() { self.default_cost } else { cost };
        self.account.elsewhere(cost, estimate * times);
        let threads = self.candidates.all()[at].threads();
        self.reduced += u64::from(threads < self.candidates.default().threads());
    }

    fn while_left_alone(&mut self, seconds: f64) {
        self.long = if seconds > 4.0 * self.rules.break_even { self.long + 1 } else { 0 };
        if self.long >= LONG {
            self.long = 0;
            self.state = State::Sampling;
            self.decide();
        }
    }

    #[cold]
    fn refuse(&mut self, cost: f64, seconds: f64) -> Error {
        self.nonsense += 1;
        let bad = if seconds.is_finite() && seconds > 0.0 { cost } else { seconds };
        let mut why = format!("an execution of {bad} is left out: it must be finite and above 0");
        if self.nonsense >= NONSENSE {
            self.state = State::Off;
            self.next = self.candidates.default_index();
            let invalid = format!("{NONSENSE} executions in a row had no valid time");
            self.reason = Reason::Said(invalid);
            why += "; the phase runs unadapted from now on";
        }
        Error::new(ErrorKind::InvalidInput, why)
    }
}

#[cold]
fn no_such(on: Configuration) -> Error {
    let why = format!("an execution at {on} is left out: the phase has no such configuration");
    Error::new(ErrorKind::NoSuchPlace, why)
}
