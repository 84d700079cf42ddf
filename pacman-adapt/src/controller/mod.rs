//! The controller of one phase: its state, and what a caller may read of it.

mod advice;
mod inputs;
mod observe;
mod rule;
mod rules;

use crate::candidates::Candidates;
use crate::evidence::Evidence;
use crate::posterior::Posterior;
use crate::predict::Configuration;
use crate::reason::Reason;
use crate::regret_budget::RegretBudget;
use advice::Advice;

pub use rules::{Rules, State};

/// The executions after which a held configuration counts as verified.
const VERIFIED: u32 = 3;
/// The most that an execution may cost over a bound or a recalled cost, with what noise adds.
const DISPROVES: f64 = 1.2;

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
    /// The configuration of the next execution, and the best so far.
    next: usize,
    best: usize,
    /// The assumed cost of an execution at the default.
    default_cost: f64,
    /// The execution at which the rule is evaluated again.
    due: u64,
    /// The configurations sampled since the phase began or changed.
    samples: u32,
    /// A first execution since then exceeded its bound, and was repeated.
    was_disturbed: bool,
    /// Seconds at the default over the cost, for any objective.
    seconds_per_cost: f64,
    /// The cost of the latest return to the default, and of those since.
    return_cost: f64,
    charged: f64,
    /// The costs of earlier runs, until an execution tells which are of the same work.
    earlier: Vec<Evidence>,
    advice: Advice,
    /// Invalid executions in a row.
    invalid: u32,
    /// Executions on fewer threads than the default has.
    reduced: u64,
    /// Configurations that the machine no longer has.
    gone: usize,
    reason: Reason,
}

impl Controller {
    /// A phase without measurements: its first executions run at the default.
    pub fn new(candidates: Candidates, rules: Rules) -> Controller {
        let default = candidates.default_index();
        let posterior = Posterior::new(candidates, rules.max_smt_gain, rules.cost_exponent);
        let mut phase = Controller {
            posterior,
            account: RegretBudget::new(rules.bound),
            rules,
            state: State::Sampling,
            next: default,
            best: default,
            default_cost: f64::INFINITY,
            due: 0,
            samples: 0,
            was_disturbed: false,
            seconds_per_cost: 0.0,
            return_cost: 0.0,
            charged: 0.0,
            earlier: Vec::new(),
            advice: Advice::default(),
            invalid: 0,
            reduced: 0,
            gone: 0,
            reason: Reason::Fixed("what runs without adaptation is measured first"),
        };
        phase.forget_advice();
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
        let level = self.posterior.level(self.index(on)?);
        level.is_finite().then_some(level)
    }

    /// The cost up to which an execution shows no change; `None` while no configuration is held.
    ///
    /// A caller may delay such executions for a while, and report them
    /// [together](Self::finished_together).
    pub fn drift_limit(&self) -> Option<f64> {
        let level = self.posterior.level(self.next);
        (self.state == State::Holding && level.is_finite())
            .then(|| level * (1.0 + self.posterior.tolerance()))
    }

    /// The reason for the next configuration: one line.
    pub fn why(&self) -> String {
        let (default, here) = (self.posterior.usual(), self.posterior.level(self.next));
        let usual = self.candidates().default();
        let more = self.account.lost() / self.account.baseline().max(f64::MIN_POSITIVE) * 100.0;
        let reason = self.reason.text(usual);
        let mut line = format!("{}: {}, {reason}", self.next(), self.state);
        if here.is_finite() && default.is_finite() && self.next != self.default_index() {
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
    fn default_index(&self) -> usize {
        self.candidates().default_index()
    }

    #[inline]
    fn index(&self, on: Configuration) -> Option<usize> {
        if on == self.next() { Some(self.next) } else { self.candidates().index(on) }
    }
}

/// Whether `value` can be a cost, a time in seconds or a ratio of two. No clock or meter gives anything beyond
/// 1e-30 and 1e30, and squares and sums of values within stay finite.
fn is_measurable(value: f64) -> bool {
    (1e-30..=1e30).contains(&value)
}
