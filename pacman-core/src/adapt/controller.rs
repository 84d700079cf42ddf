//! The state machine of one phase.

use std::fmt;
use std::sync::Arc;

use super::account::{Account, Bound};
use super::candidates::Candidates;
use super::record::Record;
use super::search::{Known, Move};
use crate::error::{Error, ErrorKind, Result};
use crate::predict::{Configuration, Predictor};

/// What is the same for all phases of a program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rules {
    /// How much may be lost.
    pub bound: Bound,
    /// What one more context of a core can be worth at most, as a part of its first. 1 assumes
    /// nothing; 0.45 says that two contexts do at most 1.45 times what one does.
    pub context_worth: f64,
    /// With which power of the time the cost grows.
    pub degree: i32,
    /// Samples of one search at most.
    pub budget: u32,
    /// Phases that take less time (in seconds) are left alone.
    pub break_even: f64,
    /// Who says what to sample; without one, steps down and up that the account can pay for.
    pub predictor: Option<Arc<dyn Predictor>>,
}

impl Default for Rules {
    /// Time, 5 % and 1 %, nothing assumed of contexts, 24 samples, no phase too short.
    fn default() -> Rules {
        Rules {
            bound: Bound::default(),
            context_worth: 1.0,
            degree: 1,
            budget: 24,
            break_even: 0.0,
            predictor: None,
        }
    }
}

/// What a phase is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Measures configurations that may be better, as far as the account allows.
    Sampling,
    /// Repeats the best one, because a single sample may have been luck.
    Verifying,
    /// Stays, and watches for drift.
    Holding,
    /// Runs at the default in between, to see that it is still worse.
    Checking,
    /// The phase is too short for anything to pay.
    LeftAlone,
    /// The program told nonsense; the default from now on.
    Off,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            State::Sampling => "sampling",
            State::Verifying => "verifying",
            State::Holding => "holding",
            State::Checking => "checking",
            State::LeftAlone => "left alone",
            State::Off => "off",
        })
    }
}

/// Chooses the configuration of one phase's next execution from what the former ones cost.
///
/// It is pure: no clock, no threads, no machine. [`Adapter`](super::Adapter) is the shell that a
/// program uses.
///
/// ```
/// use pacman_core::adapt::{Candidates, Controller, Rules, State};
/// use pacman_core::Topology;
///
/// // Memory that two of four cores saturate, and that more threads only disturb.
/// let machine = Topology::synthetic("4 cores")?;
/// let mut phase = Controller::new(Candidates::of(&machine, None)?, Rules::default());
/// while phase.state() != State::Holding {
///     let on = phase.next();
///     let seconds = 1.0 / f64::from(on.threads().min(2)) + 0.05 * f64::from(on.threads());
///     phase.finished(on, seconds, seconds)?;
/// }
/// assert_eq!(phase.next().threads(), 2);
/// # Ok::<(), pacman_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Controller {
    candidates: Candidates,
    rules: Rules,
    records: Vec<Record>,
    /// Seconds at the default, whatever the cost is.
    seconds: Record,
    account: Account,
    state: State,
    /// Where the next execution runs.
    next: usize,
    /// Where the last search ended, and its level then.
    held: usize,
    held_level: f64,
    samples: u32,
    /// The execution before which nothing is to be thought about.
    rest_until: u64,
    /// Executions between two searches at least; each search doubles it.
    rest: u64,
    search_after: u64,
    /// The default's costs of the check under way.
    fresh: Record,
    drift_checked: bool,
    /// Held before a drift, with its level over the default's then.
    remembered: Option<(usize, f64)>,
    long: u32,
    nonsense: u32,
    /// Configurations that the machine no longer has.
    gone: usize,
    why: String,
}

const LEAST_DRIFT: f64 = 0.10;
const LEAST_GAIN: f64 = 0.01;
const VERIFIED: u32 = 3;
const KNOWN_WELL: u32 = 5;
/// How many spreads a gain is more than.
const CLEAR: f64 = 1.5;
const CHECK_AFTER: (u64, u64) = (16, 256);
const REST: (u64, u64) = (20, 640);
const NONSENSE: u32 = 3;
const LONG: u32 = 8;

impl Controller {
    /// A phase of which nothing is known: its first executions run at the default.
    pub fn new(candidates: Candidates, rules: Rules) -> Controller {
        let default = candidates.default_index();
        Controller {
            records: vec![Record::default(); candidates.all().len()],
            seconds: Record::default(),
            account: Account::new(rules.bound),
            state: State::Sampling,
            next: default,
            held: default,
            held_level: f64::INFINITY,
            samples: 0,
            rest_until: 0,
            rest: REST.0,
            search_after: 0,
            fresh: Record::default(),
            drift_checked: false,
            remembered: None,
            long: 0,
            nonsense: 0,
            gone: 0,
            why: "what runs without adaptation is measured first".into(),
            candidates,
            rules,
        }
    }

    /// Where the next execution should run.
    pub fn next(&self) -> Configuration {
        self.candidates.all()[self.next]
    }

    /// What the phase is at.
    pub fn state(&self) -> State {
        self.state
    }

    /// What was lost and what may be.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// What there is to choose from.
    pub fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// Why the next execution runs where it does: one line.
    pub fn why(&self) -> String {
        let default = self.records[self.candidates.default_index()].level();
        let lost = self.account.lost() / self.account.baseline().max(f64::MIN_POSITIVE) * 100.0;
        let here = self.records[self.next].level();
        let mut line = format!("{}: {}, {}", self.next(), self.state, self.why);
        if here.is_finite() && default.is_finite() && self.next != self.candidates.default_index() {
            let ratio = here / default;
            line += &format!("; costs {ratio:.3} of {}", self.candidates.default());
        }
        if self.gone > 0 {
            line += &format!("; {} configurations gone with their contexts", self.gone);
        }
        let word = if lost > 0.0 { "lost" } else { "gained" };
        line + &format!("; {:.1} % {word} in {} executions", lost.abs(), self.account.executions())
    }

    /// An execution at `on` cost `cost` and took `seconds`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] unless both are finite and above 0: the execution is left out,
    /// and after three in a row the phase runs at the default for good;
    /// [`ErrorKind::NoSuchPlace`] if `on` is not, or no longer, a candidate.
    pub fn finished(&mut self, on: Configuration, cost: f64, seconds: f64) -> Result<()> {
        let at = if on == self.next() { Some(self.next) } else { self.candidates.index(on) };
        let Some(at) = at else {
            let why =
                format!("an execution at {on} is left out: the phase has no such configuration");
            return Err(Error::new(ErrorKind::NoSuchPlace, why));
        };
        if !(cost.is_finite() && cost > 0.0 && seconds.is_finite() && seconds > 0.0) {
            return Err(self.refuse(cost, seconds));
        }
        self.nonsense = 0;
        self.enter(at, cost);
        let expected = at == self.next;
        match self.state {
            State::Off => {}
            State::LeftAlone => self.while_left_alone(seconds),
            // Somebody else's choice, or one from before a change: it counts, and decides nothing.
            _ if !expected => {}
            State::Sampling | State::Verifying => {
                if at == self.candidates.default_index() {
                    self.seconds.push(seconds);
                }
                self.while_sampling();
            }
            State::Holding => self.while_holding(),
            State::Checking => self.while_checking(cost),
        }
        Ok(())
    }

    /// Books an execution.
    fn enter(&mut self, at: usize, cost: f64) {
        let default = self.candidates.default_index();
        if at == default {
            self.account.at_default(cost);
        } else {
            let estimate = self.records[default].level();
            // Without an estimate there is nothing to compare with: a choice from before a reset.
            let estimate = if estimate.is_finite() { estimate } else { cost };
            self.account.elsewhere(cost, estimate);
        }
        self.records[at].push(cost);
    }

    fn while_sampling(&mut self) {
        let default = self.candidates.default_index();
        if !self.default_is_known() {
            self.next = default;
            return;
        }
        // While a sample cannot be paid for, the best runs for as long as it is the better one.
        let stays = self.next == default || self.gain(self.next).is_some();
        if self.account.executions() < self.rest_until && stays {
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
            return self.settle("a search takes no more samples");
        }
        let known = self.known();
        let credit = self.account.credit(known.level(default));
        let again = self.remembered.filter(|(at, _)| !self.records[*at].is_measured());
        let step = match (again, &self.rules.predictor) {
            (Some((at, ratio)), _) if (ratio * 1.2 - 1.0) * known.level(default) <= credit => {
                Move::Run { at, why: "it was the best before the phase changed".into() }
            }
            (_, Some(predictor)) => known.follow(predictor.as_ref(), credit),
            (_, None) => known.climb(credit),
        };
        match step {
            Move::Run { at, why } => {
                self.samples += 1;
                self.next = at;
                self.why = why;
            }
            Move::Wait { at, risk } => self.wait(at, risk),
            Move::Decide { why } => self.settle(&why),
        }
    }

    /// Runs the best so far until a sample can be paid for.
    fn wait(&mut self, at: usize, risk: f64) {
        let known = self.known();
        let (best, default) = (known.best(), known.default);
        let level = known.level(default);
        let gains = self.gain(best).is_some();
        let waits = self.account.waits(risk, level);
        self.next = if gains { best } else { default };
        // Gains fill the account sooner than waiting does: looks again half way.
        let look = waits.map_or(REST.1, |waits| (waits / 2).clamp(1, REST.1));
        self.rest_until = self.account.executions() + look;
        self.why = format!(
            "a sample of {} may cost {:.2} executions more, and {:.2} can be paid",
            self.candidates.all()[at],
            risk / level,
            self.account.credit(level).max(0.0) / level
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
        // The default costs nothing but what would be gained: where that is little against the
        // noise, it is measured as well as the other.
        let little = gain.is_some_and(|gain| gain < 4.0 * CLEAR * self.noise_of(best));
        if little && self.records[default].count() < KNOWN_WELL {
            self.state = State::Verifying;
            self.next = default;
            self.why = format!("the best of {measured} measured is near the default: once more");
            return;
        }
        let at = if gains { best } else { default };
        self.why = match gains {
            true => format!("the best of {measured} measured; {why}"),
            false => format!("of {measured} measured no other is clearly better; {why}"),
        };
        self.hold(at);
    }

    fn hold(&mut self, at: usize) {
        self.state = State::Holding;
        (self.next, self.held, self.held_level) = (at, at, self.records[at].level());
        self.remembered = None;
        self.drift_checked = false;
        self.search_after = self.account.executions() + self.rest;
        self.rest = (self.rest * 2).min(REST.1);
        self.rest_until = self.account.executions() + self.until_check();
    }

    /// Executions until the default is looked at again: what could be lost meanwhile, if it had
    /// become as quick as its threads allow, is in the account; within limits.
    fn until_check(&self) -> u64 {
        let known = self.known();
        let share = f64::from(self.candidates.all()[self.held].threads())
            / f64::from(self.candidates.default().threads());
        let worst = self.held_level * (1.0 - share.powi(self.rules.degree));
        let pays = self.account.credit(known.level(known.default)) / worst.max(f64::MIN_POSITIVE);
        (pays.max(0.0) as u64).clamp(CHECK_AFTER.0, CHECK_AFTER.1)
    }

    fn while_holding(&mut self) {
        let now = self.records[self.held].level();
        let executions = self.account.executions();
        if (now - self.held_level).abs() > self.held_level * self.tolerance() {
            if executions >= self.search_after {
                let change = (now / self.held_level - 1.0) * 100.0;
                return self.start_over(format!("it changed by {change:+.0} %: searching again"));
            }
            if self.held != self.candidates.default_index() && !self.drift_checked {
                self.drift_checked = true;
                return self.check();
            }
        }
        if executions >= self.rest_until && self.held != self.candidates.default_index() {
            self.check();
        }
    }

    fn check(&mut self) {
        self.state = State::Checking;
        self.fresh.forget();
        self.next = self.candidates.default_index();
    }

    fn while_checking(&mut self, cost: f64) {
        self.fresh.push(cost);
        let held = self.records[self.held].level();
        if self.fresh.level() > held {
            self.state = State::Holding;
            self.next = self.held;
            self.rest_until = self.account.executions() + self.until_check();
        } else if self.fresh.count() >= VERIFIED {
            let held = self.candidates.all()[self.held];
            self.remembered = None;
            self.held = self.candidates.default_index();
            self.start_over(format!("{held} is no longer better: rolled back"));
        }
    }

    /// Forgets what was measured; the account stays.
    fn start_over(&mut self, why: String) {
        let default = self.candidates.default_index();
        if self.held != default {
            let ratio = self.held_level / self.records[default].level();
            self.remembered = Some((self.held, ratio));
        }
        self.records.iter_mut().for_each(Record::forget);
        self.seconds.forget();
        self.state = State::Sampling;
        self.next = default;
        self.samples = 0;
        self.rest_until = 0;
        self.long = 0;
        self.why = why;
    }

    fn while_left_alone(&mut self, seconds: f64) {
        self.long = if seconds > 4.0 * self.rules.break_even { self.long + 1 } else { 0 };
        if self.long >= LONG {
            self.start_over("it has become longer: searching".into());
        }
    }

    /// Goes on with other candidates, and answers those that are no longer there.
    ///
    /// What was measured stays if the default does; otherwise everything is measured anew.
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
        self.remembered = None;
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

    #[cold]
    fn refuse(&mut self, cost: f64, seconds: f64) -> Error {
        self.nonsense += 1;
        let bad = if seconds.is_finite() && seconds > 0.0 { cost } else { seconds };
        let mut why = format!("an execution of {bad} is left out: it must be finite and above 0");
        if self.nonsense >= NONSENSE {
            self.state = State::Off;
            self.next = self.candidates.default_index();
            self.why = format!("{NONSENSE} executions in a row had no valid time");
            why += "; the phase runs unadapted from now on";
        }
        Error::new(ErrorKind::InvalidInput, why)
    }

    /// Two executions at the default that agree, or four; the first of a program is often cold.
    fn default_is_known(&self) -> bool {
        let record = &self.records[self.candidates.default_index()];
        record.count() >= 4 || (record.count() >= 2 && record.spread() < LEAST_DRIFT / 2.0)
    }

    /// The part of the default's cost that is gained there, if it is more than noise.
    fn gain(&self, at: usize) -> Option<f64> {
        let default = self.records[self.candidates.default_index()].level();
        let gain = 1.0 - self.records[at].level() / default;
        (gain > LEAST_GAIN.max(CLEAR * self.noise_of(at))).then_some(gain)
    }

    fn noise_of(&self, at: usize) -> f64 {
        self.noise().max(self.records[at].spread())
    }

    fn noise(&self) -> f64 {
        self.records[self.candidates.default_index()].spread()
    }

    fn tolerance(&self) -> f64 {
        LEAST_DRIFT.max(4.0 * self.noise())
    }

    fn known(&self) -> Known<'_> {
        Known {
            all: self.candidates.all(),
            default: self.candidates.default_index(),
            records: &self.records,
            context_worth: self.rules.context_worth,
            degree: self.rules.degree,
            margin: LEAST_GAIN.max(self.noise()),
            account: &self.account,
        }
    }
}
