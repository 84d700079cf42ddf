//! The thread-safe shell around the controllers, which programs use.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::actuator::Actuator;
use super::candidates::Candidates;
use super::controller::{Controller, Rules, State};
use super::fit;
use super::machine::{Machine, candidates, placed, usable};
use super::objective::{Execution, Objective};
use super::places::places;
use super::regret_budget::RegretLimits;
use crate::predict::{Configuration, Predictor};
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::Topology;
use pacman_topology::energy::{EnergyReading, Rapl};
use pacman_topology::{Place, Placement};

/// Chooses configurations for the phases of one program. A clone refers to the same adapter.
///
/// The example of [the module](super) adapts one phase.
#[derive(Clone, Debug)]
pub struct Adapter {
    shared: Arc<Shared>,
    /// Not in `shared`, because every phase holds that.
    phases: Arc<Mutex<Vec<Phase>>>,
}

#[derive(Debug)]
struct Shared {
    machine: Mutex<Machine>,
    limit: Option<usize>,
    /// The caller's order of cores, which says on which nodes they are.
    order: Option<Placement>,
    objective: Objective,
    rapl: Option<Rapl>,
    rules: Rules,
}

/// A phase of the program. A clone refers to the same phase.
#[derive(Clone, Debug)]
pub struct Phase {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    shared: Arc<Shared>,
    controller: Mutex<Controller>,
}

/// The configuration of one execution; pass it to [`Phase::end`].
///
/// A choice that is dropped leaves the execution out.
#[derive(Debug)]
#[must_use = "run with it, and give it back to Phase::end"]
pub struct Choice {
    on: Configuration,
    energy: Option<EnergyReading>,
}

impl Choice {
    /// The number of threads to run on.
    pub fn threads(&self) -> usize {
        self.on.threads() as usize
    }

    /// Cores and contexts of each; [`Adapter::places`] has their places.
    pub fn configuration(&self) -> Configuration {
        self.on
    }
}

/// The options of an adapter; [`Adapter::builder`] makes one.
#[derive(Debug)]
pub struct Builder {
    topology: Topology,
    limit: Option<usize>,
    order: Option<Placement>,
    objective: Objective,
    rapl: Option<Rapl>,
    switch: Duration,
    break_even: Option<Duration>,
    rules: Rules,
}

impl Adapter {
    /// An adapter for the contexts of `topology` that the process may use: for time, and cores on as many
    /// NUMA nodes as is best.
    pub fn builder(topology: Topology) -> Builder {
        Builder {
            topology,
            limit: None,
            order: None,
            objective: Objective::Time,
            rapl: None,
            switch: Duration::ZERO,
            break_even: None,
            rules: Rules::default(),
        }
    }

    /// The phase with that name; created if it is new.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for an empty name or one of several lines.
    pub fn phase(&self, name: &str) -> Result<Phase> {
        if name.is_empty() || name.contains('\n') {
            let why = format!("cannot adapt a phase named {name:?}: a name is one line, not empty");
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        // All code locks in this order: phases, machine, controller.
        let mut phases = self.phases.lock();
        if let Some(known) = phases.iter().find(|phase| phase.name() == name) {
            return Ok(known.clone());
        }
        let candidates = self.shared.machine.lock().candidates.clone();
        let controller = Mutex::new(Controller::new(candidates, self.shared.rules.clone()));
        let shared = Arc::clone(&self.shared);
        let phase = Phase { inner: Arc::new(Inner { name: name.to_owned(), shared, controller }) };
        phases.push(phase.clone());
        Ok(phase)
    }

    /// The phases so far, in order of naming.
    pub fn phases(&self) -> Vec<Phase> {
        self.phases.lock().clone()
    }

    /// All configurations that may be chosen now, and the default.
    pub fn candidates(&self) -> Candidates {
        self.shared.machine.lock().candidates.clone()
    }

    /// Which hardware contexts the threads of a configuration should run on.
    ///
    /// # Errors
    /// [`ErrorKind::NoSuchPlace`] for a configuration that the machine does not have.
    pub fn places(&self, on: Configuration) -> Result<Vec<Place>> {
        self.shared.machine.lock().places(on)
    }

    /// The machine as of the latest look at it.
    pub fn topology(&self) -> Topology {
        self.shared.machine.lock().topology.clone()
    }

    /// Phases shorter than this are left alone.
    pub fn break_even(&self) -> Duration {
        Duration::from_secs_f64(self.shared.rules.break_even)
    }

    /// Looks at the machine again, and drops configurations that no longer fit. Call it after
    /// `sched_setaffinity`, a changed cpuset or a context that went offline. Returns the dropped
    /// configurations.
    ///
    /// The process may use the contexts that the calling thread may use: call it from a thread that
    /// the program has not bound itself.
    ///
    /// # Errors
    /// As [`Topology::detect`] and [`machine_changed`](Self::machine_changed).
    pub fn refresh(&self) -> Result<Vec<Configuration>> {
        self.machine_changed(Topology::detect()?)
    }

    /// Continues with a topology that the caller has read.
    ///
    /// It also drops configurations that the placement has no place for.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] if no context is left, and as [`Placement::places`] if the placement has
    /// no place for any configuration: then everything stays as it is.
    pub fn machine_changed(&self, topology: Topology) -> Result<Vec<Configuration>> {
        let phases = self.phases.lock();
        let mut machine = self.shared.machine.lock();
        let order = usable(self.shared.order.as_ref(), &topology);
        let candidates = self.shared.candidates_of(&topology)?;
        let now = placed(&topology, &order, candidates)?;
        (machine.topology, machine.order) = (topology, order);
        if now == machine.candidates {
            return Ok(Vec::new());
        }
        let before = std::mem::replace(&mut machine.candidates, now.clone());
        for phase in phases.iter() {
            phase.inner.controller.lock().restrict(now.clone());
        }
        let gone = before.all().iter().filter(|&&on| now.index(on).is_none());
        Ok(gone.copied().collect())
    }
}

impl Shared {
    fn candidates_of(&self, topology: &Topology) -> Result<Candidates> {
        let all = candidates(topology, self.limit, self.order.as_ref())?;
        match &self.rules.predictor {
            None => Ok(all),
            Some(predictor) => fit::among(predictor.as_ref(), topology, &all),
        }
    }
}

impl Phase {
    /// The name that the phase was created with.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Chooses the configuration of the next execution.
    ///
    /// Several threads may run executions of one phase at once; each has a choice of its own. If
    /// energy is the objective, this reads its counters, and `end` reads them again. They include
    /// all other work of the packages in that time.
    pub fn begin(&self) -> Choice {
        let on = self.inner.controller.lock().next();
        let rapl = self.inner.shared.rapl.as_ref();
        Choice { on, energy: rapl.and_then(|rapl| rapl.read().ok()) }
    }

    /// Reports that the execution took `elapsed`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a time or cost that is not finite and above 0: the execution
    /// is left out, and after three in a row the phase runs at the default permanently.
    /// [`ErrorKind::NoSuchPlace`] if the configuration was dropped meanwhile. The program may
    /// ignore both errors.
    pub fn end(&self, choice: Choice, elapsed: Duration) -> Result<()> {
        self.end_with(choice, Execution::lasting(elapsed))
    }

    /// Like [`end`](Self::end), with the program's own measurements. Energy that is missing is
    /// read.
    ///
    /// # Errors
    /// As [`end`](Self::end).
    pub fn end_with(&self, choice: Choice, mut execution: Execution) -> Result<()> {
        if let (Some(rapl), Some(before), None) =
            (&self.inner.shared.rapl, &choice.energy, execution.joules)
        {
            execution.joules = rapl.read().and_then(|now| now.joules_since(before)).ok();
        }
        let cost = self.inner.shared.objective.cost(&execution);
        let mut controller = self.inner.controller.lock();
        match cost {
            Ok(cost) => controller.finished(choice.on, cost, execution.seconds),
            Err(error) => {
                // The controller must count this execution as invalid as well; this error says
                // more.
                let _ = controller.finished(choice.on, f64::NAN, execution.seconds);
                Err(error)
            }
        }
    }

    /// Runs one execution: `work` once on each thread, with its number.
    ///
    /// # Errors
    /// The actuator's error, such as for a lost place. `work` has run nevertheless, and the
    /// execution is left out. Otherwise as for [`end`](Self::end).
    pub fn run(&self, actuator: &dyn Actuator, work: &(dyn Fn(usize) + Sync)) -> Result<()> {
        let choice = self.begin();
        let places = self.inner.shared.machine.lock().places(choice.on);
        let begun = Instant::now();
        actuator.run(&places?, work)?;
        self.end(choice, begun.elapsed())
    }

    /// The reason for the next configuration: one line.
    pub fn why(&self) -> String {
        format!("{}: {}", self.inner.name, self.inner.controller.lock().why())
    }

    /// The state of the phase.
    pub fn state(&self) -> State {
        self.inner.controller.lock().state()
    }
}

impl Builder {
    /// Limits the number of threads; the default then has `threads`, not as many as can run at once
    /// ([`Topology::effective_contexts`]).
    pub fn max_threads(mut self, threads: usize) -> Builder {
        self.limit = Some(threads);
        self
    }

    /// The order in which cores are used: `Compact` fills package by package, `Scatter` spreads. Then the
    /// adapter does not choose NUMA nodes. Without an order it does, and fills cores package by package. A
    /// list must have a CPU of every core that may be used, unless the [limit](Self::max_threads)
    /// leaves cores out.
    pub fn placement(mut self, order: Placement) -> Builder {
        self.order = Some(order);
        self
    }

    /// The quantity to minimise.
    pub fn objective(mut self, objective: Objective) -> Builder {
        self.objective = objective;
        self
    }

    /// Reads energy from `rapl` instead of this system's powercap. `pacman_core::energy::detect` also
    /// finds a source where powercap is missing.
    pub fn energy(mut self, rapl: Rapl) -> Builder {
        self.rapl = Some(rapl);
        self
    }

    /// The predictor that chooses samples; its configurations replace the machine's. A trained
    /// model predicts times, and its widest configuration must be the default.
    /// [`build`](Self::build) refuses a predictor that needs counts, because an adapter measures
    /// none.
    pub fn predictor(mut self, predictor: impl Predictor + 'static) -> Builder {
        self.rules.predictor = Some(Arc::new(predictor));
        self
    }

    /// The program's cost of a change of the number of threads; it raises the break-even.
    pub fn switch_cost(mut self, cost: Duration) -> Builder {
        self.switch = cost;
        self
    }

    /// Leaves phases shorter than `time` alone, instead of the measured break-even time.
    pub fn break_even(mut self, time: Duration) -> Builder {
        self.break_even = Some(time);
        self
    }

    /// The maximum SMT gain: the most that a further context of a core adds, as a part of the
    /// core's first. The default of 1 assumes nothing. With 0.45, fewer contexts of a core are
    /// sampled after 10 executions instead of 21. The loss is limited only if the value is right.
    pub fn max_smt_gain(mut self, worth: f64) -> Builder {
        self.rules.max_smt_gain = worth;
        self
    }

    /// The most that adaptation may cost, as a part of the time without it; the default is 0.01. Before
    /// a phase has run 120 times it may cost five times as much.
    ///
    /// ```
    /// use pacman_adapt::Adapter;
    /// use pacman_topology::Topology;
    /// let adapter = Adapter::builder(Topology::synthetic("4 cores")?).max_loss(0.02).build()?;
    /// assert!(Adapter::builder(adapter.topology()).max_loss(2.0).build().is_err());
    /// # Ok::<(), pacman_adapt::Error>(())
    /// ```
    pub fn max_loss(mut self, part: f64) -> Builder {
        self.rules.bound = RegretLimits::within(part);
        self
    }

    /// Measures the cost of a decision on this machine, and makes the adapter.
    ///
    /// # Errors
    /// - [`ErrorKind::InvalidInput`] for a limit of 0 threads, a maximum SMT gain or a loss outside 0
    ///   to 1, a predictor of times with another objective, or one that predicts from another default
    /// - [`ErrorKind::NoSuchPlace`] if the predictor has configurations that the machine lacks
    /// - as for [`Placement::places`], for a placement that lacks places for a candidate
    /// - [`ErrorKind::Unsupported`] or [`ErrorKind::Permission`] if the objective needs energy that
    ///   cannot be read
    pub fn build(self) -> Result<Adapter> {
        let Builder { topology, limit, order, objective, mut rapl, mut rules, .. } = self;
        if !(0.0..=1.0).contains(&rules.max_smt_gain) {
            let why =
                format!("the maximum SMT gain must be from 0 to 1, got {}", rules.max_smt_gain);
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        if !(0.0..=1.0).contains(&rules.bound.steady) {
            let why = format!("the most loss must be from 0 to 1, got {}", rules.bound.steady);
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        let mut candidates = candidates(&topology, limit, order.as_ref())?;
        if let Some(predictor) = &rules.predictor {
            candidates = fit::fitting(predictor.as_ref(), &topology, &candidates, &objective)?;
        }
        if objective.needs_energy() && rapl.is_none() {
            rapl = Some(Rapl::detect()?);
        }
        let sequence = order.clone().unwrap_or(Placement::Compact);
        // A refusal at an execution's begin would be too late.
        for &on in candidates.all() {
            places(&topology, on, &sequence)?;
        }
        rules.cost_exponent = objective.cost_exponent();
        let decision = decision_cost(&candidates);
        let measured = (decision + self.switch) * PAYS;
        rules.break_even = self.break_even.unwrap_or(measured).as_secs_f64();
        let machine = Mutex::new(Machine { topology, candidates, order: sequence });
        let shared = Shared { machine, limit, order, objective, rapl, rules };
        Ok(Adapter { shared: Arc::new(shared), phases: Arc::default() })
    }
}

/// A decision may cost one percent of an execution.
const PAYS: u32 = 100;

/// The cost of begin and end while a phase is held.
fn decision_cost(candidates: &Candidates) -> Duration {
    const PAIRS: u32 = 2_000;
    let controller = Mutex::new(Controller::new(candidates.clone(), Rules::default()));
    let begun = Instant::now();
    for _ in 0..PAIRS {
        let on = controller.lock().next();
        // The same time for each configuration ends the search at once.
        let _ = controller.lock().finished(on, 1.0, 1.0);
    }
    begun.elapsed() / PAIRS
}
