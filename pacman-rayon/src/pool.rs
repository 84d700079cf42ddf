//! The adaptive pool and its phases.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pacman_adapt::predict::Configuration;
use pacman_adapt::{Actuator, Adapter, Builder, Phase, State};
use pacman_core::{Error, ErrorKind, Place, Result, Session};

use crate::change;
use crate::workers::Workers;

/// Rayon pools of several sizes. Each execution of a phase runs in one of them.
///
/// Idle pools sleep and cost only memory. Clones share the pools.
#[derive(Clone)]
pub struct AdaptivePool {
    inner: Arc<Inner>,
}

struct Inner {
    adapter: Adapter,
    session: Option<Session>,
    /// The cost of a change to another pool.
    change: Duration,
    pools: Mutex<BTreeMap<Configuration, Arc<Workers>>>,
    looked: Mutex<Instant>,
}

/// A phase that runs in the pool of the chosen size.
#[derive(Clone, Debug)]
pub struct AdaptivePhase {
    pool: AdaptivePool,
    phase: Phase,
    counted: Option<pacman_core::Phase>,
}

/// The time between two looks at the CPUs that the process may use.
const LOOK: Duration = Duration::from_secs(1);

impl AdaptivePool {
    /// Makes the pools that the adapter of `builder` chooses from.
    ///
    /// The call measures the cost of a change between two pools, which takes some milliseconds. That
    /// cost replaces the builder's switch cost.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn new(builder: Builder) -> Result<AdaptivePool> {
        AdaptivePool::make(builder, None)
    }

    /// As [`new`](Self::new), and attaches all workers to `session`. The session's report has a row
    /// for each phase and worker.
    ///
    /// The session must not have a placement, because the pool binds its workers.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn counted(builder: Builder, session: Session) -> Result<AdaptivePool> {
        AdaptivePool::make(builder, Some(session))
    }

    fn make(builder: Builder, session: Option<Session>) -> Result<AdaptivePool> {
        let change = change::measure().unwrap_or_default();
        let adapter = builder.switch_cost(change).build()?;
        let (pools, looked) = (Mutex::default(), Mutex::new(Instant::now()));
        Ok(AdaptivePool { inner: Arc::new(Inner { adapter, session, change, pools, looked }) })
    }

    /// Returns the phase `name`. The first call with a name makes the phase.
    ///
    /// # Errors
    /// As for [`Adapter::phase`], and with a session as for [`Session::phase`].
    pub fn phase(&self, name: &str) -> Result<AdaptivePhase> {
        let phase = self.inner.adapter.phase(name)?;
        let counted = self.inner.session.as_ref().map(|session| session.phase(name)).transpose()?;
        Ok(AdaptivePhase { pool: self.clone(), phase, counted })
    }

    /// Runs `work` in the pool of a given configuration, for comparison. The controller does not know of
    /// it.
    ///
    /// # Errors
    /// [`NoSuchPlace`](pacman_core::ErrorKind::NoSuchPlace) if the machine lacks the configuration;
    /// [`System`](pacman_core::ErrorKind::System) if the system cannot start more threads.
    ///
    /// # Panics
    /// If `work` panics.
    pub fn install_at<R: Send>(
        &self,
        on: Configuration,
        work: impl FnOnce() -> R + Send,
    ) -> Result<R> {
        Ok(self.workers(on)?.pool.install(work))
    }

    /// The adapter that chooses the pool.
    pub fn adapter(&self) -> &Adapter {
        &self.inner.adapter
    }

    /// Failures of workers to bind or to attach. Each is one line, which begins with the configuration.
    pub fn trouble(&self) -> Vec<String> {
        let pools = self.inner.pools.lock().expect("nobody panics with it");
        let lines = pools.iter().flat_map(|(on, workers)| {
            workers.trouble().into_iter().map(move |line| format!("{on}: {line}"))
        });
        lines.collect()
    }

    /// Returns the pool of a configuration. The first call makes the pool.
    fn workers(&self, on: Configuration) -> Result<Arc<Workers>> {
        let mut pools = self.inner.pools.lock().expect("nobody panics with it");
        if let Some(workers) = pools.get(&on) {
            return Ok(Arc::clone(workers));
        }
        let adapter = &self.inner.adapter;
        let places = adapter.places(on)?;
        let started = Workers::start(&adapter.topology(), &places, self.inner.session.as_ref());
        let workers = Arc::new(started.map_err(|error| {
            Error::new(
                ErrorKind::System,
                format!(
                    "cannot start the threads of {on}: the system said {error}; end other threads, or \
                     raise the limit of processes (ulimit -u)"
                ),
            )
        })?);
        pools.insert(on, Arc::clone(&workers));
        Ok(workers)
    }

    /// Drops all pools if the process may use other CPUs now. Looks once a second at most.
    fn look(&self) -> Result<()> {
        let mut looked = self.inner.looked.lock().expect("nobody panics with it");
        if looked.elapsed() < LOOK {
            return Ok(());
        }
        *looked = Instant::now();
        drop(looked);
        let before = self.inner.adapter.topology().allowed();
        self.inner.adapter.refresh()?;
        if self.inner.adapter.topology().allowed() != before {
            // Drop the pools of the remaining configurations, too: their places may differ now.
            self.inner.pools.lock().expect("nobody panics with it").clear();
        }
        Ok(())
    }
}

impl AdaptivePhase {
    /// Runs one execution in the pool of the chosen size. Rayon's parallel iterators in `work` use
    /// that pool.
    ///
    /// With a session, every worker's counts during the execution go to its row of this phase.
    ///
    /// # Errors
    /// [`NoSuchPlace`](pacman_core::ErrorKind::NoSuchPlace) if the chosen contexts are gone;
    /// [`System`](pacman_core::ErrorKind::System) if the system cannot start more threads; the error
    /// of [`Adapter::refresh`] if the machine cannot be read. `work` has not run then. Failures of the
    /// controller or of counters are not errors: see [`why`](Self::why) and [`AdaptivePool::trouble`].
    ///
    /// # Panics
    /// If `work` panics.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R> {
        self.pool.look()?;
        let choice = self.phase.begin();
        let workers = self.pool.workers(choice.configuration())?;
        self.each(&workers, |session, phase| drop(session.begin(phase)));
        let begun = Instant::now();
        let result = workers.pool.install(work);
        let elapsed = begun.elapsed();
        self.each(&workers, |session, phase| drop(session.end(phase)));
        // The controller may leave the execution out. The caller could not act on it; why() says so.
        let _ = self.phase.end(choice, elapsed);
        Ok(result)
    }

    /// Lets each worker begin or end the phase, outside of the measured time.
    fn each(&self, workers: &Workers, act: impl Fn(&Session, pacman_core::Phase) + Sync) {
        if let (Some(session), Some(phase)) = (&self.pool.inner.session, self.counted) {
            workers.pool.broadcast(|_| act(session, phase));
        }
    }

    /// The reason for the next execution's configuration, in one line.
    pub fn why(&self) -> String {
        self.phase.why()
    }

    /// The state of the phase's controller.
    pub fn state(&self) -> State {
        self.phase.state()
    }

    /// The configuration of the next execution.
    pub fn next(&self) -> Configuration {
        self.phase.begin().configuration()
    }
}

/// For programs that drive [`Phase`]s themselves. One worker runs at each place.
impl Actuator for AdaptivePool {
    fn run(&self, places: &[Place], work: &(dyn Fn(usize) + Sync)) -> pacman_adapt::Result<()> {
        let adapter = &self.inner.adapter;
        let all = adapter.candidates();
        let fits = |on: &&Configuration| adapter.places(**on).is_ok_and(|its| its == places);
        let on = all.all().iter().find(fits).copied();
        let on = on.map_or_else(|| Configuration::new(places.len() as u32), Ok)?;
        let workers = self.workers(on).map_err(|error| {
            pacman_adapt::Error::new(pacman_adapt::ErrorKind::System, error.to_string())
        })?;
        workers.pool.broadcast(|worker| work(worker.index()));
        Ok(())
    }

    fn switch_cost(&self) -> Duration {
        self.inner.change
    }
}

impl fmt::Debug for AdaptivePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdaptivePool").field("adapter", &self.inner.adapter).finish_non_exhaustive()
    }
}
