//! The state machine of one phase.

use crate::candidates::Candidates;
use crate::error::{Error, ErrorKind, Result};
use crate::evidence::Evidence;
use crate::known::{Expected, Known};
use crate::objective::Execution;
use crate::predict::{Configuration, Sample};
use crate::record::Record;
use crate::regret_budget::RegretBudget;

use super::held_run::HeldRun;
use super::limits::{ENOUGH, LEAST_GAIN, MOST, NONSENSE, REST};
use super::rules::{Rules, State};
use super::tally::Tally;

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
    pub(super) rules: Rules,
    pub(super) records: Vec<Record>,
    /// Seconds at the default, for any objective.
    pub(super) seconds: Record,
    pub(super) account: RegretBudget,
    pub(super) state: State,
    /// The configuration of the next execution.
    pub(super) next: usize,
    /// The configuration that the last search chose, and its level then.
    pub(super) held: usize,
    pub(super) held_level: f64,
    pub(super) samples: u32,
    /// The upper bound of the latest sample's cost, at the time of the sample.
    pub(super) ceiling: f64,
    /// This search left out a sample because it exceeded that bound.
    pub(super) doubted: bool,
    /// The default is held, but noise may have hidden a better configuration.
    pub(super) noise_may_hide: bool,
    /// The controller changes nothing before this execution.
    pub(super) rest_until: u64,
    /// The default's level when the controller began to wait for the budget.
    pub(super) waits_at: f64,
    /// The least executions between two searches; each search doubles it.
    pub(super) rest: u64,
    pub(super) search_after: u64,
    /// The default's costs of the check under way.
    pub(super) fresh: Record,
    pub(super) drift_checked: bool,
    /// The cost of the check or search under way, or of the latest, beyond the configuration held
    /// before.
    pub(super) spent: f64,
    /// The same cost of the latest check.
    pub(super) check_cost: f64,
    /// The executions at the default since the search began.
    pub(super) tally: Tally,
    /// The number of these executions after which the default is weighed by its average.
    pub(super) enough: u32,
    /// That average, while another configuration is held because of it.
    pub(super) costly: Option<f64>,
    /// The executions at the default in the check under way.
    pub(super) looks: Tally,
    /// The executions at one configuration other than the default.
    pub(super) held_run: HeldRun,
    /// One execution elsewhere was excused as an accident since the search began.
    pub(super) excused: bool,
    /// The phase's state before the budget was found overdrawn.
    pub(super) remeasuring: Option<State>,
    /// The configuration that was held before a drift, and its level over the default's at that
    /// time.
    pub(super) remembered: Option<(usize, f64)>,
    /// The costs of earlier runs, until an execution tells which are of the same work.
    pub(super) earlier: Vec<Evidence>,
    /// Records of this search have costs of an earlier run.
    pub(super) recalls: bool,
    /// The cost of the default when costs were recalled.
    pub(super) recalled_default: f64,
    /// The most that an execution may cost over what is recalled of its configuration.
    pub(super) recalled_most: f64,
    /// The cost of the sample under way above which the earlier run is disproved.
    pub(super) recalled_limit: f64,
    pub(super) long: u32,
    pub(super) nonsense: u32,
    /// The counts at the default since the search began. Only a predictor uses them.
    pub(super) counted: Vec<Sample>,
    /// The events that the predictor wants counted in the next execution.
    pub(super) wanted: Vec<String>,
    /// The predictor's expectation by candidate; empty if it has none or was wrong.
    pub(super) expected: Vec<Option<Expected>>,
    /// The predictor had an answer in this search.
    pub(super) predicted: bool,
    /// A sample exceeded its predicted limit.
    pub(super) disproved: bool,
    /// Executions on fewer threads than the default has.
    pub(super) reduced: u64,
    /// Configurations that the machine no longer has.
    pub(super) gone: usize,
    pub(super) why: String,
}

impl Controller {
    /// A phase without measurements: its first executions run at the default.
    pub fn new(candidates: Candidates, rules: Rules) -> Controller {
        let default = candidates.default_index();
        Controller {
            records: vec![Record::default(); candidates.all().len()],
            seconds: Record::default(),
            account: RegretBudget::new(rules.bound),
            state: State::Sampling,
            next: default,
            held: default,
            held_level: f64::INFINITY,
            samples: 0,
            ceiling: f64::INFINITY,
            doubted: false,
            noise_may_hide: false,
            rest_until: 0,
            waits_at: f64::INFINITY,
            rest: REST.0,
            search_after: 0,
            fresh: Record::default(),
            drift_checked: false,
            spent: 0.0,
            check_cost: 0.0,
            tally: Tally::default(),
            enough: ENOUGH,
            costly: None,
            looks: Tally::default(),
            held_run: HeldRun::default(),
            excused: false,
            remeasuring: None,
            remembered: None,
            earlier: Vec::new(),
            recalls: false,
            recalled_default: f64::INFINITY,
            recalled_most: 1.0,
            recalled_limit: f64::INFINITY,
            long: 0,
            nonsense: 0,
            counted: Vec::new(),
            wanted: rules.first_events(candidates.default()),
            expected: Vec::new(),
            predicted: false,
            disproved: false,
            reduced: 0,
            gone: 0,
            why: "what runs without adaptation is measured first".into(),
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

    /// The cost of an execution at `on`: the median of the latest five. `None` if none was reported
    /// since the search began, or if the phase has no such configuration.
    pub fn level(&self, on: Configuration) -> Option<f64> {
        let level = self.records[self.index(on)?].level();
        level.is_finite().then_some(level)
    }

    /// The reason for the next configuration: one line.
    pub fn why(&self) -> String {
        let default = self.default_cost();
        let usual = self.candidates.default();
        let more = self.account.lost() / self.account.baseline().max(f64::MIN_POSITIVE) * 100.0;
        let here = self.records[self.next].level();
        let mut line = format!("{}: {}, {}", self.next(), self.state, self.why);
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
        // This figure includes the cost of the search and of changes of the team; the one above
        // does not.
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

    /// Reports an execution at `on` with its cost and its time in seconds.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] unless both are finite and above 0: the execution is left out,
    /// and after three in a row the phase runs at the default for good;
    /// [`ErrorKind::NoSuchPlace`] if `on` is not, or no longer, a candidate.
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
        if !(cost.is_finite() && cost > 0.0 && seconds.is_finite() && seconds > 0.0) {
            return Err(self.refuse(cost, seconds));
        }
        self.nonsense = 0;
        self.enter(at, cost, execution.parallelism());
        let expected = at == self.next;
        match self.state {
            State::Off => {}
            State::LeftAlone => self.while_left_alone(seconds),
            // The execution ran at another configuration than the chosen one. It counts, but
            // decides nothing.
            _ if !expected => {}
            _ if self.over_budget() => self.remeasure(),
            State::Sampling | State::Verifying => {
                if at == self.candidates.default_index() {
                    self.seconds.push(seconds, None);
                }
                self.while_sampling();
            }
            State::Holding => self.while_holding(),
            State::Checking => self.while_checking(cost),
        }
        Ok(())
    }

    /// Reports an execution at `on` that is not typical, such as the first on newly started
    /// threads. Its cost is in the account, but does not affect decisions.
    ///
    /// It ignores a cost that is not finite and above 0, and a cost at a configuration that the
    /// phase does not have.
    pub fn outlier(&mut self, on: Configuration, cost: f64) {
        let Some(at) = self.index(on) else { return };
        if cost.is_finite() && cost > 0.0 {
            self.book(at, 1, cost, cost);
        }
    }

    pub(super) fn index(&self, on: Configuration) -> Option<usize> {
        if on == self.next() { Some(self.next) } else { self.candidates.index(on) }
    }

    /// Adds an execution to the account.
    pub(super) fn enter(&mut self, at: usize, cost: f64, parallelism: Option<f64>) {
        self.book(at, 1, cost, cost);
        self.records[at].push(cost, parallelism);
    }

    /// Adds executions at one configuration to the account. They cost `cost` in total, and the most
    /// costly one cost `highest`.
    pub(super) fn book(&mut self, at: usize, executions: u32, cost: f64, highest: f64) {
        let default = self.candidates.default_index();
        let count = u64::from(executions);
        if self.state != State::Holding && self.held_level.is_finite() {
            self.spent += cost - self.held_level * f64::from(executions);
        }
        if at == default {
            // The very first execution is costly because everything is cold.
            if self.account.executions() > 0 {
                self.tally.fade(MOST);
                self.tally.add(executions, cost, highest);
            }
            return self.account.enter(count, cost, cost);
        }
        let estimate = self.default_cost() * f64::from(executions);
        // Without an estimate there is nothing to compare with: the choice dates from before a
        // reset.
        let estimate = if estimate.is_finite() { estimate } else { cost };
        let costs = (cost, estimate, highest);
        self.held_run.goes_on(at, executions, costs, self.account.lost());
        self.account.enter(count, cost, estimate);
        let threads = self.candidates.all()[at].threads();
        self.reduced += if threads < self.candidates.default().threads() { count } else { 0 };
    }

    #[cold]
    pub(super) fn refuse(&mut self, cost: f64, seconds: f64) -> Error {
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

    pub(super) fn noise(&self) -> f64 {
        self.records[self.candidates.default_index()].spread()
    }

    pub(super) fn known(&self) -> Known<'_> {
        Known {
            all: self.candidates.all(),
            default: self.candidates.default_index(),
            contexts: self.candidates.contexts(),
            records: &self.records,
            max_smt_gain: self.rules.max_smt_gain,
            cost_exponent: self.rules.cost_exponent,
            margin: LEAST_GAIN.max(self.noise()),
            account: &self.account,
            expected: &self.expected,
        }
    }
}

#[cold]
fn no_such(on: Configuration) -> Error {
    let why = format!("an execution at {on} is left out: the phase has no such configuration");
    Error::new(ErrorKind::NoSuchPlace, why)
}
