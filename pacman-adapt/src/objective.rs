//! The quantity to minimise.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};

/// The time and energy of one execution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Execution {
    /// Wall time in seconds.
    pub seconds: f64,
    /// Energy of all packages in joules, siblings and other programs included, where it was read.
    pub joules: Option<f64>,
    /// CPU time of all threads in the phase's work, in seconds, where it was measured.
    pub busy: Option<f64>,
}

impl Execution {
    /// An execution that took `elapsed`.
    pub fn lasting(elapsed: Duration) -> Execution {
        Execution { seconds: elapsed.as_secs_f64(), joules: None, busy: None }
    }

    /// An execution that took `seconds`.
    pub fn seconds(seconds: f64) -> Execution {
        Execution { seconds, joules: None, busy: None }
    }

    /// The same execution with its energy, in joules.
    pub fn with_joules(mut self, joules: f64) -> Execution {
        self.joules = Some(joules);
        self
    }

    /// The same execution with the CPU time of all its threads together, in seconds.
    ///
    /// It limits the loss on fewer threads: one thread with all the work would take at most 5 %
    /// longer. The limit assumes that the threads wait only for each other, and that the caches of
    /// several cores do not help much. Spinning threads and slow siblings add CPU time, which makes
    /// the limit weaker but never wrong.
    pub fn with_busy(mut self, seconds: f64) -> Execution {
        self.busy = Some(seconds);
        self
    }

    /// How many threads were busy on average.
    ///
    /// Fewer than one at a time means that all waited for something outside of the program, of
    /// which one thread may have to wait for more: that bounds nothing.
    pub(super) fn parallelism(&self) -> Option<f64> {
        let busy = self.busy? / self.seconds;
        (busy.is_finite() && busy >= ALWAYS).then_some(busy)
    }
}

/// Threads busy on average when one is at any time: clocks differ by that much.
const ALWAYS: f64 = 0.95;

/// The quantity that the controller minimises: time, energy, a product of both, or a function of
/// one's own.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Objective {
    /// Wall time.
    #[default]
    Time,
    /// Energy of the packages, through powercap.
    Energy,
    /// Energy times time.
    EnergyDelay,
    /// Energy times time squared.
    EnergyDelaySquared,
    /// A function of one's own of an execution; see [`custom`](Objective::custom).
    Custom(Custom),
}

/// A function that makes one cost of an execution.
#[derive(Clone)]
pub struct Custom {
    cost: Arc<dyn Fn(&Execution) -> f64 + Send + Sync>,
    cost_exponent: i32,
}

impl Objective {
    /// Makes `cost` less, which grows at most with the time to the power of `degree`.
    ///
    /// The degree says how dear a sample may become: on half the threads an execution takes
    /// twice the time at most, and costs two to the power of `degree`.
    pub fn custom(
        cost_exponent: u8,
        cost: impl Fn(&Execution) -> f64 + Send + Sync + 'static,
    ) -> Objective {
        Objective::Custom(Custom {
            cost: Arc::new(cost),
            cost_exponent: i32::from(cost_exponent.max(1)),
        })
    }

    /// The cost of an execution: finite and above 0, or refused.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a time, energy or cost that is 0, negative or no number,
    /// and where energy is wanted and was not read.
    pub fn cost(&self, execution: &Execution) -> Result<f64> {
        let Execution { seconds, joules, .. } = *execution;
        let joules = || {
            joules.ok_or_else(|| {
                let why = format!("cannot weigh an execution by {self}: its energy was not read");
                Error::new(ErrorKind::InvalidInput, why)
            })
        };
        valid(seconds, "s", self)?;
        let cost = match self {
            Objective::Time => return Ok(seconds),
            Objective::Energy => joules()?,
            Objective::EnergyDelay => joules()? * seconds,
            Objective::EnergyDelaySquared => joules()? * seconds * seconds,
            Objective::Custom(custom) => (custom.cost)(execution),
        };
        valid(cost, "as a cost", self)?;
        Ok(cost)
    }

    /// Whether a cost is seconds.
    pub fn is_time(&self) -> bool {
        matches!(self, Objective::Time)
    }

    /// Whether it cannot do without energy.
    pub fn needs_energy(&self) -> bool {
        matches!(self, Objective::Energy | Objective::EnergyDelay | Objective::EnergyDelaySquared)
    }

    /// With which power of the time the cost grows at most, on fewer threads.
    pub fn cost_exponent(&self) -> i32 {
        match self {
            // Energy: time at most at the power that all contexts draw.
            Objective::Time | Objective::Energy => 1,
            Objective::EnergyDelay => 2,
            Objective::EnergyDelaySquared => 3,
            Objective::Custom(custom) => custom.cost_exponent,
        }
    }
}

fn valid(value: f64, unit: &str, objective: &Objective) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    let why = format!(
        "cannot weigh an execution by {objective}: {value} {unit} is not above 0; it is left out, and \
         the phase goes on"
    );
    Err(Error::new(ErrorKind::InvalidInput, why))
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Objective::Time => "time",
            Objective::Energy => "energy",
            Objective::EnergyDelay => "energy-delay",
            Objective::EnergyDelaySquared => "energy-delay-squared",
            Objective::Custom(_) => "a function",
        })
    }
}

impl fmt::Debug for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Objective({self})")
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").field("degree", &self.cost_exponent).finish_non_exhaustive()
    }
}
