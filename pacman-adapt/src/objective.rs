//! The quantity to minimise.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pacman_events::{Error, ErrorKind, Result};

/// The time and energy of one execution.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Execution {
    /// Wall time in seconds.
    pub seconds: f64,
    /// Energy of all packages in joules, if it was read. It includes siblings and other programs.
    pub joules: Option<f64>,
    /// CPU time of all threads in the phase's work, in seconds, if it was measured.
    pub busy: Option<f64>,
    /// The part of that time without waits, in seconds, if it was measured.
    pub useful: Option<f64>,
}

impl Execution {
    /// An execution that took `elapsed`.
    pub fn lasting(elapsed: Duration) -> Execution {
        Execution::seconds(elapsed.as_secs_f64())
    }

    /// An execution that took `seconds`.
    pub fn seconds(seconds: f64) -> Execution {
        Execution { seconds, joules: None, busy: None, useful: None }
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

    /// The same execution with the useful time of all its threads together, in seconds: their work
    /// without the time in which they only waited for each other.
    ///
    /// It limits the loss on fewer threads as the [busy time](Execution::with_busy) does, and more
    /// closely: one thread has no other to wait for. Waiting for anything outside the program, such as
    /// input, must be in it, because one thread waits for that as well. Time in which other programs had
    /// the processor may be left out as far as one thread would not lose it.
    ///
    /// ```
    /// use pacman_adapt::{Candidates, Controller, Execution, Rules};
    /// use pacman_topology::Topology;
    ///
    /// let machine = Topology::synthetic("2 cores")?;
    /// let mut phase = Controller::new(Candidates::of(&machine, None)?, Rules::default());
    /// let both = phase.next();
    /// // Two threads that wait for each other half of the time.
    /// let execution = Execution::seconds(1.0).with_busy(2.0).with_useful(1.0);
    /// for _ in 0..2 {
    ///     phase.finished_with(both, 1.0, &execution)?;
    /// }
    /// assert_eq!(phase.next().threads(), 1, "as quick at worst, so tried at once");
    /// # Ok::<(), pacman_adapt::Error>(())
    /// ```
    pub fn with_useful(mut self, seconds: f64) -> Execution {
        self.useful = Some(seconds);
        self
    }

    /// The average number of threads at work.
    ///
    /// Without useful time, a value below one means that all threads waited for something outside the
    /// program. One thread may have to wait longer for it, so the value limits nothing.
    pub(super) fn parallelism(&self) -> Option<f64> {
        let part = |seconds: f64, least: f64| {
            let part = seconds / self.seconds;
            (part.is_finite() && part >= least).then_some(part)
        };
        match self.useful {
            Some(useful) => part(useful, 0.0),
            None => part(self.busy?, ALWAYS),
        }
    }
}

/// From this value on at least one thread is always busy: clocks differ by the rest.
const ALWAYS: f64 = 0.95;

/// The quantity that the controller minimises: time, energy, a product of both, or a custom
/// function.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Objective {
    /// Wall time.
    #[default]
    Time,
    /// Energy of the packages; see [`Rapl`](crate::Rapl).
    Energy,
    /// Energy times time.
    EnergyDelay,
    /// Energy times time squared.
    EnergyDelaySquared,
    /// A custom function of an execution; see [`custom`](Objective::custom).
    Custom(Custom),
}

/// A function that gives the cost of an execution.
#[derive(Clone)]
pub struct Custom {
    cost: Arc<dyn Fn(&Execution) -> f64 + Send + Sync>,
    cost_exponent: i32,
}

impl Objective {
    /// Minimises `cost`, which grows at most with the time to the power of `cost_exponent`.
    ///
    /// The exponent limits the cost of a sample. On half the threads an execution takes at most twice
    /// the time, and costs at most two to the power of `cost_exponent`.
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
    /// [`ErrorKind::InvalidInput`] for a time, energy or cost that is not finite and above 0, and
    /// if the objective needs energy that was not read.
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

    /// Whether the cost is in seconds.
    pub fn is_time(&self) -> bool {
        matches!(self, Objective::Time)
    }

    /// Whether the objective needs energy.
    pub fn needs_energy(&self) -> bool {
        matches!(self, Objective::Energy | Objective::EnergyDelay | Objective::EnergyDelaySquared)
    }

    /// The highest exponent of time with which the cost grows on fewer threads.
    pub fn cost_exponent(&self) -> i32 {
        match self {
            // Energy is at most the time multiplied by the power of all contexts.
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
