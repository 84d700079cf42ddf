//! The state of one phase.

use std::sync::Arc;

use crate::candidates::Candidates;
use crate::estimate::{Bursts, Estimate};
use crate::evidence::Evidence;
use crate::known::{Expected, Known};
use crate::measured::Measured;
use crate::outlook::Outlook;
use crate::predict::{Configuration, Sample};
use crate::reason::Reason;
use crate::regret_budget::RegretBudget;
use crate::table::CandidateTable;

use super::limits::{CLEAR, LEAST_CHANGE, MOST_CHANGE, REST};
use super::rules::{Rules, State};

/// Chooses the configuration of one phase's next execution from the costs of the former ones.
///
/// It is pure: it uses no clock, no threads and no machine. Programs use the shell
/// [`Adapter`](crate::Adapter). A runtime with its own shell calls [`next`](Self::next) before an
/// execution and [`finished`](Self::finished) after it. While a phase is held, neither allocates.
///
/// ```
/// use pacman_adapt::{Candidates, Controller, Rules, State};
/// use pacman_topology::Topology;
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
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
#[derive(Debug)]
pub struct Controller {
    pub(super) candidates: Candidates,
    pub(super) table: Arc<CandidateTable>,
    pub(super) measured: Measured,
    pub(super) rules: Rules,
    pub(super) records: Vec<Estimate>,
    /// Seconds at the default, for any objective.
    pub(super) seconds: Estimate,
    /// The excess of bursts: at the default, and elsewhere.
    pub(super) bursts: [Bursts; 2],
    /// The latest execution was hit by a burst.
    pub(super) in_burst: bool,
    /// The mean deviation from the level, and the executions that it is a mean of.
    pub(super) deviation: (f64, f64),
    /// By candidate, what laws say of its cost over the default's.
    pub(super) outlooks: Vec<Outlook>,
    /// There are measurements that the laws have not seen.
    pub(super) is_new: bool,
    pub(super) account: RegretBudget,
    pub(super) state: State,
    /// The configuration of the next execution.
    pub(super) next: usize,
    /// The best configuration so far.
    pub(super) best: usize,
    /// The assumed cost of an execution at the default.
    pub(super) default_cost: f64,
    /// The execution at which the rule is evaluated again.
    pub(super) due: u64,
    /// The configurations sampled since the phase began or changed.
    pub(super) samples: u32,
    /// The upper bound of the next execution's cost, if it is the first there.
    pub(super) ceiling: f64,
    /// A sample exceeded that bound, and its bound counted instead.
    pub(super) doubted: bool,
    /// The first execution whose change may count, and the executions from there to the next one.
    pub(super) change_after: u64,
    pub(super) rest: u64,
    /// The latest change, until the rule has been evaluated.
    pub(super) changed: Option<f64>,
    /// The cost of the latest return to the default, and of those since.
    pub(super) return_cost: f64,
    pub(super) charged: f64,
    /// The costs of earlier runs, until an execution tells which are of the same work.
    pub(super) earlier: Vec<Evidence>,
    /// By candidate, the cost over the default's in an earlier run; empty without memory.
    pub(super) recalled: Vec<Option<f64>>,
    /// The most that an execution may cost over what is recalled of its configuration.
    pub(super) recalled_most: f64,
    pub(super) long: u32,
    pub(super) nonsense: u32,
    /// The counts at the default. Only a predictor uses them.
    pub(super) counted: Vec<Sample>,
    /// The events that the predictor wants counted in the next execution.
    pub(super) wanted: Vec<String>,
    /// The predictor's expectation by candidate; empty if it has none or was wrong.
    pub(super) expected: Vec<Option<Expected>>,
    /// A sample exceeded its predicted limit.
    pub(super) disproved: bool,
    /// Executions on fewer threads than the default has.
    pub(super) reduced: u64,
    /// Configurations that the machine no longer has.
    pub(super) gone: usize,
    pub(super) reason: Reason,
}

impl Controller {
    /// A phase without measurements: its first executions run at the default.
    pub fn new(candidates: Candidates, rules: Rules) -> Controller {
        let default = candidates.default_index();
        let table = candidates.table(rules.max_smt_gain);
        Controller {
            records: vec![Estimate::default(); candidates.all().len()],
            seconds: Estimate::default(),
            bursts: [Bursts::default(); 2],
            in_burst: false,
            deviation: (0.0, 0.0),
            outlooks: vec![Outlook::default(); candidates.all().len()],
            is_new: true,
            account: RegretBudget::new(rules.bound),
            state: State::Sampling,
            next: default,
            best: default,
            default_cost: f64::INFINITY,
            due: 0,
            samples: 0,
            ceiling: f64::INFINITY,
            doubted: false,
            change_after: 0,
            rest: REST.0,
            changed: None,
            return_cost: 0.0,
            charged: 0.0,
            earlier: Vec::new(),
            recalled: Vec::new(),
            recalled_most: 1.0,
            long: 0,
            nonsense: 0,
            counted: Vec::new(),
            wanted: rules.first_events(candidates.default()),
            expected: Vec::new(),
            disproved: false,
            reduced: 0,
            gone: 0,
            reason: Reason::Fixed("what runs without adaptation is measured first"),
            measured: Measured::new(&table, std::iter::empty()),
            table,
            candidates,
            rules,
        }
    }

    /// The configuration of the next execution.
    #[inline]
    pub fn next(&self) -> Configuration {
        self.candidates.all()[self.next]
    }

    /// The state of the phase.
    pub fn state(&self) -> State {
        self.state
    }

    /// The loss so far against the default (below 0: a gain), and the loss that is allowed.
    pub fn account(&self) -> &RegretBudget {
        &self.account
    }

    /// The number of executions on fewer threads than the default has.
    pub fn reduced_executions(&self) -> u64 {
        self.reduced
    }

    /// The configurations to choose from.
    pub fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// The usual cost of an execution at `on`, without bursts of other programs. `None` if none was
    /// reported, or if the phase has no such configuration.
    pub fn level(&self, on: Configuration) -> Option<f64> {
        let level = self.records[self.index(on)?].level();
        level.is_finite().then_some(level)
    }

    /// The cost up to which an execution shows no change; `None` while no configuration is held.
    ///
    /// A caller may delay such executions for a while, and report them
    /// [together](Self::finished_together).
    pub fn drift_limit(&self) -> Option<f64> {
        let level = self.records[self.next].level();
        (self.state == State::Holding && level.is_finite())
            .then(|| level * (1.0 + self.tolerance()))
    }

    /// The reason for the next configuration: one line.
    pub fn why(&self) -> String {
        let default = self.records[self.candidates.default_index()].level();
        let usual = self.candidates.default();
        let more = self.account.lost() / self.account.baseline().max(f64::MIN_POSITIVE) * 100.0;
        let here = self.records[self.next].level();
        let reason = self.reason.text(usual);
        let mut line = format!("{}: {}, {reason}", self.next(), self.state);
        if here.is_finite() && default.is_finite() && self.next != self.candidates.default_index() {
            line += &format!("; the latest cost {:.3} of one on {usual}", here / default);
        }
        if self.gone > 0 {
            line += &format!("; {} configurations gone with their contexts", self.gone);
        }
        let executions = self.account.executions();
        if self.state == State::LeftAlone || executions == 0 {
            // Nothing is lost or gained, and a caller need not report each execution.
            return line;
        }
        // This figure includes the cost of samples and of changes of the team; the one above does not.
        let amount = match more {
            more if more.abs() < 0.05 => format!("as much as on {usual}"),
            more if more > 0.0 => format!("{more:.1} % more than on {usual}"),
            _ => format!("{:.1} % less than on {usual}", -more),
        };
        match executions {
            1 => line + &format!("; the one execution cost {amount}"),
            _ => line + &format!("; all {executions} together cost {amount}"),
        }
    }

    #[inline]
    pub(super) fn index(&self, on: Configuration) -> Option<usize> {
        if on == self.next() { Some(self.next) } else { self.candidates.index(on) }
    }

    /// The standard deviation of executions, as a part of their cost.
    #[inline]
    pub(super) fn noise(&self) -> f64 {
        // A normal distribution deviates by 0.8 of its standard deviation on average.
        1.25 * self.deviation.0
    }

    /// The part of its level from which the cost of an execution is a burst or a change.
    #[inline]
    pub(super) fn tolerance(&self) -> f64 {
        (CLEAR * self.noise()).clamp(LEAST_CHANGE, MOST_CHANGE)
    }

    pub(super) fn known(&self) -> Known<'_> {
        Known {
            all: self.candidates.all(),
            default: self.candidates.default_index(),
            table: &self.table,
            records: &self.records,
            measured: &self.measured,
            recalled: &self.recalled,
            cost_exponent: self.rules.cost_exponent,
            expected: &self.expected,
        }
    }
}
