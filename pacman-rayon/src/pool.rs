//! The adaptive pool and its phases.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pacman_adapt::predict::Configuration;
use pacman_adapt::{Actuator, Adapter, Builder, Phase, State};
use pacman_core::{Place, Result, Session};

use crate::change;
use crate::workers::Workers;

/// Rayon pools of several sizes, of which each execution of a phase gets one.
///
/// Idle pools sleep and cost memory only. A clone is the same pool.
#[derive(Clone)]
pub struct AdaptivePool {
    inner: Arc<Inner>,
}

struct Inner {
    adapter: Adapter,
    session: Option<Session>,
    /// The cost of going on in another pool.
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

/// How often the CPUs that the process may use are looked at.
const LOOK: Duration = Duration::from_secs(1);

impl AdaptivePool {
    /// Pools as `builder`'s adapter wants them; measures what a change of pools costs, which takes
    /// some milliseconds.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn new(builder: Builder) -> Result<AdaptivePool> {
        AdaptivePool::make(builder, None)
    }

    /// The same, with all workers attached to `session`; its report has each phase by worker.
    ///
    /// The session must have no placement of its own: workers are bound by the pool.
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

    /// The phase of that name, made when it is named first.
    ///
    /// # Errors
    /// As [`Adapter::phase`].
    pub fn phase(&self, name: &str) -> Result<AdaptivePhase> {
        let phase = self.inner.adapter.phase(name)?;
        let counted = self.inner.session.as_ref().map(|session| session.phase(name)).transpose()?;
        Ok(AdaptivePhase { pool: self.clone(), phase, counted })
    }

    /// Runs `work` in the pool of a given configuration, without the controller: to compare.
    ///
    /// # Errors
    /// [`NoSuchPlace`](pacman_core::ErrorKind::NoSuchPlace) where the machine does not have it.
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

    /// The failures of workers by configuration: to bind, to attach. Empty if all is well.
    pub fn trouble(&self) -> Vec<String> {
        let pools = self.inner.pools.lock().expect("nobody panics with it");
        let lines = pools.iter().flat_map(|(on, workers)| {
            workers.trouble().into_iter().map(move |line| format!("{on}: {line}"))
        });
        lines.collect()
    }

    /// The pool of a configuration, made when it is first wanted.
    fn workers(&self, on: Configuration) -> Result<Arc<Workers>> {
        let mut pools = self.inner.pools.lock().expect("nobody panics with it");
        if let Some(workers) = pools.get(&on) {
            return Ok(Arc::clone(workers));
        }
        let adapter = &self.inner.adapter;
        let places = adapter.places(on)?;
        let started = Workers::start(&adapter.topology(), &places, self.inner.session.as_ref());
        // The only cause is that the system gives no more threads.
        let workers = Arc::new(started.unwrap_or_else(|error| panic!("no pool for {on}: {error}")));
        pools.insert(on, Arc::clone(&workers));
        Ok(workers)
    }

    /// Drops pools whose contexts are gone, once a second at most.
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
            // Configurations that stay may have other places now.
            self.inner.pools.lock().expect("nobody panics with it").clear();
        }
        Ok(())
    }
}

impl AdaptivePhase {
    /// Runs one execution in the pool of the chosen size; rayon's parallel iterators inside use it.
    ///
    /// With a session, every worker's counts during the execution go to its row of this phase.
    ///
    /// # Errors
    /// Where the chosen contexts are gone or the machine cannot be looked at: then `work` has not
    /// run. Never for what only the controller or the counters have to say: see
    /// [`why`](Self::why) and [`AdaptivePool::trouble`].
    ///
    /// # Panics
    /// If `work` does, or the system gives no more threads.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R> {
        self.pool.look()?;
        let choice = self.phase.begin();
        let workers = self.pool.workers(choice.configuration())?;
        self.each(&workers, |session, phase| drop(session.begin(phase)));
        let begun = Instant::now();
        let result = workers.pool.install(work);
        let elapsed = begun.elapsed();
        self.each(&workers, |session, phase| drop(session.end(phase)));
        // An execution that is left out is nothing the caller could act on; why() tells.
        let _ = self.phase.end(choice, elapsed);
        Ok(result)
    }

    /// Each worker at a boundary of the phase, outside of the time that is measured.
    fn each(&self, workers: &Workers, act: impl Fn(&Session, pacman_core::Phase) + Sync) {
        if let (Some(session), Some(phase)) = (&self.pool.inner.session, self.counted) {
            workers.pool.broadcast(|_| act(session, phase));
        }
    }

    /// Why the next execution runs where it does: one line.
    pub fn why(&self) -> String {
        self.phase.why()
    }

    /// The state of the phase.
    pub fn state(&self) -> State {
        self.phase.state()
    }

    /// Where the next execution would run.
    pub fn next(&self) -> Configuration {
        self.phase.begin().configuration()
    }
}

/// Each place is a worker; for programs that drive [`Phase`]s themselves.
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
