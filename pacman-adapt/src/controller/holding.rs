//! Holds the chosen configuration, and detects when it is no longer the best.

use super::average::CHECKS_OF_LOAD;
use super::limits::{CHECK_AFTER, CHECKS, LEAST_DRIFT, LONG, LONGEST, REST, SEARCHES, VERIFIED};
use super::rules::State;
use super::state_machine::Controller;
use super::tally::Tally;
use crate::candidates::Candidates;
use crate::error::Result;
use crate::predict::Configuration;
use crate::record::Record;

impl Controller {
    pub(super) fn hold(&mut self, at: usize) {
        self.state = State::Holding;
        self.wanted.clear();
        (self.next, self.held, self.held_level) = (at, at, self.records[at].level());
        self.remembered = None;
        self.drift_checked = false;
        if at == self.candidates.default_index() {
            self.costly = None;
        }
        self.noise_may_hide = false;
        let rest =
            self.rest.max(self.executions_between(self.spent + self.switch_back_cost(), SEARCHES));
        self.search_after = self.account.executions() + rest;
        self.rest = (self.rest * 2).min(REST.1);
        self.rest_until = self.account.executions() + self.until_check();
    }

    /// Executions until the next check of the default.
    ///
    /// The budget can pay the loss that is possible until then, if the default has become as quick
    /// as its threads allow. A costly check is put off further, so that checks stay within their
    /// part of the cost.
    fn until_check(&self) -> u64 {
        let known = self.known();
        let all = self.candidates.all();
        let default = self.default_cost();
        let share = known.capacity(all[self.held]) / known.capacity(all[known.default]);
        let worst = self.held_level * (1.0 - share.min(1.0).powi(self.rules.cost_exponent));
        let pays = self.account.credit(default) / worst.max(f64::MIN_POSITIVE);
        let pays = (pays.max(0.0) as u64).clamp(CHECK_AFTER.0, CHECK_AFTER.1);
        // Before the first check its cost is unknown, and the measured default may be too costly.
        let part = if self.costly.is_some() { CHECKS_OF_LOAD } else { CHECKS };
        pays.max(match self.check_cost > 0.0 {
            true => self.executions_between(self.check_cost, part),
            false => self.executions_between(default - self.held_level, part).min(REST.1),
        })
        .max(self.executions_between(self.switch_back_cost(), part))
    }

    /// The additional cost of a return from the held configuration to the default.
    fn switch_back_cost(&self) -> f64 {
        if self.rules.switch_back_cost == 0.0 || self.held == self.candidates.default_index() {
            return 0.0;
        }
        self.rules.switch_back_cost / self.seconds.level() * self.default_cost()
    }

    /// Executions to wait between events of this cost, so that they cost at most `part` of all.
    fn executions_between(&self, cost: f64, part: f64) -> u64 {
        ((cost / self.held_level / part).max(0.0) as u64).min(LONGEST)
    }

    /// The cost up to which an execution shows no drift; `None` while no configuration is held.
    ///
    /// A caller may delay such executions for a while, and report them
    /// [together](Self::finished_together).
    pub fn drift_limit(&self) -> Option<f64> {
        let holds = self.state == State::Holding && self.held_level.is_finite();
        holds.then(|| self.held_level * (1.0 + self.tolerance()))
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
        let valid = |seconds: &f64| seconds.is_finite() && *seconds > 0.0;
        let holds = self.state == State::Holding && on == self.next();
        if !(holds && seconds.iter().all(valid)) {
            let mut first = Ok(());
            for &seconds in seconds {
                let told = self.finished(on, seconds, seconds);
                first = first.and(told);
            }
            return first;
        }
        if seconds.is_empty() {
            return Ok(());
        }
        self.nonsense = 0;
        let highest = seconds.iter().copied().fold(0.0, f64::max);
        self.book(self.next, seconds.len() as u32, seconds.iter().sum(), highest);
        self.records[self.next].push_all(seconds);
        match self.over_budget() {
            true => self.remeasure(),
            false => self.while_holding(),
        }
        Ok(())
    }

    pub(super) fn while_holding(&mut self) {
        let now = self.records[self.held].level();
        let executions = self.account.executions();
        let off = (now - self.held_level).abs();
        if off > self.held_level * LEAST_DRIFT && off > self.held_level * self.tolerance() {
            if executions >= self.search_after {
                let change = (now / self.held_level - 1.0) * 100.0;
                return self.start_over(format!("it changed by {change:+.0} %: searching again"));
            }
            if self.held != self.candidates.default_index() && !self.drift_checked {
                self.drift_checked = true;
                return self.check();
            }
        }
        if self.held == self.candidates.default_index() {
            return match self.noise_may_hide && executions >= self.search_after {
                true => self.search_once_more(),
                false => self.weigh(),
            };
        }
        if executions >= self.rest_until {
            self.check();
        }
    }

    /// Searches again, because noise may have hidden a better configuration than the default.
    fn search_once_more(&mut self) {
        let tally = self.tally;
        self.start_over("noise may have hidden what is better: searching again".into());
        self.tally = tally;
    }

    pub(super) fn check(&mut self) {
        self.state = State::Checking;
        self.fresh.forget();
        self.looks = Tally::default();
        self.spent = 0.0;
        self.next = self.candidates.default_index();
    }

    pub(super) fn while_checking(&mut self, cost: f64) {
        self.fresh.push(cost, None);
        if let Some(back) = self.remeasuring {
            return self.while_remeasuring(back);
        }
        if self.costly.is_some() {
            return self.while_averaging(cost);
        }
        let held = self.records[self.held].level();
        if self.fresh.level() > held {
            self.keep_holding();
        } else if self.fresh.count() >= VERIFIED {
            let held = self.candidates.all()[self.held];
            self.remembered = None;
            self.held = self.candidates.default_index();
            self.start_over(format!("{held} is no longer better: rolled back"));
        }
    }

    /// A check has found nothing better.
    pub(super) fn keep_holding(&mut self) {
        self.check_cost = self.spent;
        self.state = State::Holding;
        self.next = self.held;
        self.rest_until = self.account.executions() + self.until_check();
    }

    /// Forgets all measurements, but keeps the regret budget.
    pub(super) fn start_over(&mut self, why: String) {
        let default = self.candidates.default_index();
        if self.held != default {
            let ratio = self.held_level / self.records[default].level();
            self.remembered = Some((self.held, ratio));
        }
        self.records.iter_mut().for_each(Record::forget);
        self.recalls = false;
        (self.costly, self.tally, self.excused) = (None, Tally::default(), false);
        self.forget_advice();
        self.end_held_run();
        self.seconds.forget();
        self.state = State::Sampling;
        self.next = default;
        self.samples = 0;
        self.ceiling = f64::INFINITY;
        self.doubted = false;
        self.spent = 0.0;
        self.rest_until = 0;
        self.long = 0;
        self.why = why;
    }

    pub(super) fn while_left_alone(&mut self, seconds: f64) {
        self.long = if seconds > 4.0 * self.rules.break_even { self.long + 1 } else { 0 };
        if self.long >= LONG {
            self.start_over("it has become longer: searching".into());
        }
    }

    /// Continues with other candidates, and returns the old ones that are no longer there.
    ///
    /// Measurements stay valid if the default stays; otherwise the search starts over.
    pub fn restrict(&mut self, candidates: Candidates) -> Vec<Configuration> {
        let old = std::mem::replace(&mut self.candidates, candidates);
        let there = |on: &&Configuration| self.candidates.index(**on).is_none();
        let dropped: Vec<Configuration> = old.all().iter().filter(there).copied().collect();
        self.gone += dropped.len();
        let records = self.candidates.all().iter();
        self.records = records
            .map(|&on| old.index(on).map_or(Record::default(), |at| self.records[at]))
            .collect();
        let default = self.candidates.default_index();
        (self.next, self.held) = (default, default);
        (self.remembered, self.costly) = (None, None);
        self.forget_advice();
        self.end_held_run();
        if self.state == State::Off || self.state == State::LeftAlone {
            return dropped;
        }
        let names: Vec<String> = dropped.iter().map(ToString::to_string).collect();
        let why = match dropped.len() {
            0 => "the machine has changed".to_owned(),
            count => format!("{count} configurations are gone ({})", names.join(", ")),
        };
        if self.candidates.default() == old.default() {
            (self.state, self.samples, self.rest_until) = (State::Sampling, 0, 0);
            self.why = why;
        } else {
            self.start_over(why);
        }
        dropped
    }

    fn tolerance(&self) -> f64 {
        LEAST_DRIFT.max(4.0 * self.noise())
    }
}
