//! The rules of a controller, and its states.

use std::fmt;
use std::sync::Arc;

use crate::predict::Predictor;
use crate::regret_budget::RegretLimits;

/// The rules that all phases of a program share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rules {
    /// The limits of the loss.
    pub bound: RegretLimits,
    /// The most that one more context of a core adds, as a part of its first. 1 assumes nothing;
    /// 0.45 says that two contexts do at most 1.45 times the work of one.
    pub max_smt_gain: f64,
    /// The exponent of time with which the cost grows.
    pub cost_exponent: i32,
    /// Phases that take less time (in seconds) are left alone.
    pub break_even: f64,
    /// Additional seconds of the first execution at the default after others with fewer threads.
    ///
    /// A runtime may have to start the missing threads, for example. If the cost is not 0, the
    /// controller measures the default well before it leaves it, and puts off returns to it.
    pub switch_back_cost: f64,
    /// The predictor that chooses samples. Without one, laws of parallel programs give the
    /// expected costs.
    pub predictor: Option<Arc<dyn Predictor>>,
}

impl Default for Rules {
    /// Limits of 5 % and 1 %, cost equal to time, no assumption about contexts, no break-even
    /// time and no cost of switching back.
    fn default() -> Rules {
        Rules {
            bound: RegretLimits::default(),
            max_smt_gain: 1.0,
            cost_exponent: 1,
            break_even: 0.0,
            switch_back_cost: 0.0,
            predictor: None,
        }
    }
}

/// The state of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Measures configurations that may be better, as far as the account allows.
    Sampling,
    /// Repeats the best configuration, because a single sample may have been luck.
    Verifying,
    /// Stays at a configuration, and watches for drift.
    Holding,
    /// Runs at the default for a while, to see whether it is still worse.
    Checking,
    /// The phase is too short for a gain.
    LeftAlone,
    /// The program reported invalid times. The phase stays at the default.
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
