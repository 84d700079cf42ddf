//! The controller of one phase: its state, and what a caller may read of it.

mod inputs;
mod observe;
mod rule;
mod state;

use std::sync::Arc;

use crate::candidates::Candidates;
use crate::evidence::Evidence;
use crate::posterior::Posterior;
use crate::predict::{Configuration, Predictor, Sample};
use crate::reason::Reason;
use crate::regret_budget::RegretBudget;

pub use state::{Rules, State};

/// The executions after which a held configuration counts as verified: the median of three leaves one out.
const VERIFIED: u32 = 3;

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
    rules: Rules,
    posterior: Posterior,
    account: RegretBudget,
    state: State,
    /// The configuration of the next execution, and why.
    next: usize,
    reason: Reason,
    /// The best so far, and the assumed cost of an execution at the default.
    best: usize,
    default_cost: f64,
    /// The execution at which the rule is evaluated again.
    due: u64,
    /// A first execution since the latest change exceeded its bound, and was repeated.
    was_disturbed: bool,
    /// The latest change of costs was seen elsewhere than at the default.
    changed_elsewhere: bool,
    /// Seconds at the default over the cost, for any objective.
    seconds_per_cost: f64,
    /// The cost of the latest return to the default.
    return_cost: f64,
    /// The costs of earlier runs, until an execution shows which are of the same work.
    earlier: Vec<Evidence>,
    /// The predictor, unless a sample has disproved it, and the counts that it may have.
    predictor: Option<Arc<dyn Predictor>>,
    counted: Vec<Sample>,
    wanted: Vec<String>,
    /// Invalid executions in a row.
    invalid: u32,
    /// Executions on fewer threads than the default has.
    reduced: u64,
    /// Configurations that the machine no longer has.
    gone: usize,
}

impl Controller {
    /// A phase without measurements: its first executions run at the default.
    pub fn new(candidates: Candidates, rules: Rules) -> Controller {
        let default = candidates.default_index();
        let mut phase = Controller {
            posterior: Posterior::new(candidates, rules.max_smt_gain, rules.cost_exponent),
            account: RegretBudget::new(rules.bound),
            rules,
            state: State::Sampling,
            next: default,
            reason: Reason::Fixed("what runs without adaptation is measured first"),
            best: default,
            default_cost: f64::INFINITY,
            due: 0,
            was_disturbed: false,
            changed_elsewhere: false,
            seconds_per_cost: 0.0,
            return_cost: 0.0,
            earlier: Vec::new(),
            predictor: None,
            counted: Vec::new(),
            wanted: Vec::new(),
            invalid: 0,
            reduced: 0,
            gone: 0,
        };
        phase.forget_predictions();
        phase
    }

    /// The configuration of the next execution.
    #[inline]
    pub fn next(&self) -> Configuration {
        self.candidates().all()[self.next]
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
    #[inline]
    pub fn candidates(&self) -> &Candidates {
        &self.posterior.candidates
    }

    /// The usual cost of an execution at `on`, without bursts of other programs. `None` if none was
    /// reported, or if the phase has no such configuration.
    pub fn level(&self, on: Configuration) -> Option<f64> {
        Some(self.posterior.level(self.index(on)?)).filter(|level| level.is_finite())
    }

    /// The cost up to which an execution shows no change; `None` while no configuration is held.
    ///
    /// A caller may delay such executions for a while, and report them
    /// [together](Self::finished_together).
    pub fn drift_limit(&self) -> Option<f64> {
        let level = self.level(self.next()).filter(|_| self.state == State::Holding);
        level.map(|level| level * (1.0 + self.posterior.tolerance()))
    }

    /// The reason for the next configuration: one line.
    pub fn why(&self) -> String {
        let (default, here) = (self.posterior.usual(), self.posterior.level(self.next));
        let usual = self.candidates().default();
        let mut line = format!("{}: {}, {}", self.next(), self.state, self.reason.text(usual));
        if here.is_finite() && default.is_finite() && self.next != self.default_index() {
            line += &format!("; the latest cost {:.3} of one on {usual}", here / default);
        }
        if self.gone > 0 {
            line += &format!("; {} configurations gone with their contexts", self.gone);
        }
        // This figure includes the cost of samples and of changes of the team; the one above does not.
        let more = self.account.lost() / self.account.baseline().max(f64::MIN_POSITIVE) * 100.0;
        let amount = match more {
            more if more.abs() < 0.05 => format!("as much as on {usual}"),
            more if more > 0.0 => format!("{more:.1} % more than on {usual}"),
            _ => format!("{:.1} % less than on {usual}", -more),
        };
        match self.account.executions() {
            // Nothing is lost or gained, and a caller need not report each execution.
            _ if self.state == State::LeftAlone => line,
            0 => line,
            1 => line + &format!("; the one execution cost {amount}"),
            all => line + &format!("; all {all} together cost {amount}"),
        }
    }

    #[inline]
    fn default_index(&self) -> usize {
        self.candidates().default_index()
    }

    #[inline]
    fn index(&self, on: Configuration) -> Option<usize> {
        if on == self.next() { Some(self.next) } else { self.candidates().index(on) }
    }
}
