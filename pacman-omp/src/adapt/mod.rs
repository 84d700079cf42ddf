//! How many threads the next execution of a region gets.
//!
//! [`choose`] is asked before a team starts and [`finished`] told after it has ended; in between
//! they are [`pacman_core::adapt::Controller`]'s, one for each region. Most executions need neither:
//! they go as the one before did ([`cached`]). What a program could notice of a narrower team is
//! what the [`guards`] look for; what narrowing costs other regions is [charged](restart_cost) to the one
//! that is narrowed.

mod cached_decision;
mod guards;
mod learn;
mod mask;
mod model;
mod outcome;
mod phase;
mod places;
mod restart_cost;
mod team_affinity;
pub(crate) mod wait_policy;

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use pacman_core::adapt::{Microjoules, Objective, Rapl, State};
use pacman_core::predict::{Configuration, Predictor};
use pacman_core::{Place, Placement, Topology, sim};
use try_lock::TryLock;

pub(crate) use cached_decision::CachedDecision;
pub(crate) use guards::Guards;
use guards::Lifted;
pub(crate) use learn::{finished, finished_alone, finished_cached};
pub(crate) use outcome::record_outcome;
use outcome::{OutcomeRecord, record_if_due};
use phase::Phase;
pub(crate) use places::{Bound, has_bound, mask_matters};
pub(crate) use restart_cost::Pool;
pub(crate) use team_affinity::{TeamAffinities, TeamAffinity};
pub(crate) use wait_policy::WaitPolicy;

use crate::fork;
use crate::function::Function;
use crate::isolation::isolated;
use crate::process;
use crate::region::Region;
use crate::worker::Worker;
use crate::worksharing;

/// What all regions of the process have in common.
struct Adapting {
    topology: Topology,
    /// How many hardware contexts the process may use.
    contexts: u32,
    /// The most threads that a team may have.
    most: u32,
    lifted: Lifted,
    seconds_per_tick: f64,
    /// Ticks from which an execution is worth a look at a region that is left alone.
    long: u64,
    objective: Objective,
    rapl: Option<Rapl>,
    predictor: Option<Arc<dyn Predictor>>,
    /// Where SMT siblings would otherwise share a core that another leaves empty.
    places: bool,
    /// Where threads that outnumber the contexts would go on sharing one: all that there are.
    apart: Option<Box<[u32]>>,
}

static ADAPTING: OnceLock<Option<Adapting>> = OnceLock::new();

/// What adaptation keeps for a region.
#[derive(Debug, Default)]
pub(crate) struct Adapted {
    pub(crate) guards: Guards,
    /// It has run once as the program has it, so that the guards know what it does.
    looked: AtomicBool,
    /// It is left alone because it is short.
    short: AtomicBool,
    /// See [`Adapted::choice`].
    choice: AtomicU32,
    phase: TryLock<Option<Phase>>,
    outcome: OutcomeRecord,
}

/// How one execution is to run.
pub(crate) struct Choice {
    /// What the real entry is given; 0 leaves it to the runtime.
    pub(crate) threads: u32,
    /// Where its members run, if it matters.
    pub(crate) places: Option<Arc<[Place]>>,
    /// Whom its members belong to, where they are moved apart or that may come.
    pub(crate) affinity: Option<Arc<TeamAffinity>>,
    /// Whether the time that members are busy is worth adding up.
    pub(crate) wants_busy: bool,
    on: Option<Configuration>,
    joules: Option<Microjoules>,
}

impl Adapted {
    /// Whether it has run once as the program has it.
    pub(crate) fn has_run(&self) -> bool {
        self.looked.load(Ordering::Relaxed)
    }

    /// The same, and from now on it has.
    fn has_run_before(&self) -> bool {
        let before = self.has_run();
        if !before {
            self.looked.store(true, Ordering::Relaxed);
        }
        before
    }

    /// How often something else was chosen for it than what it was held at.
    fn choice(&self) -> u32 {
        self.choice.load(Ordering::Relaxed)
    }

    /// What it was held at is no longer what was chosen.
    fn chooses_anew(&self) {
        self.choice.fetch_add(1, Ordering::Relaxed);
        process::advance_config_epoch();
    }
}

impl Choice {
    /// As the program has it.
    pub(crate) fn of_the_program(threads: u32) -> Choice {
        Choice { threads, places: None, affinity: None, wants_busy: false, on: None, joules: None }
    }

    /// Whether it is, and nobody learns from the execution.
    pub(crate) fn is_the_program_s(&self) -> bool {
        self.on.is_none()
    }
}

/// Phases shorter than this are left alone where a change of threads costs a decision only.
const BREAK_EVEN: f64 = 20e-6;

/// Whether anything is to be adapted.
#[inline]
pub(crate) fn is_wished() -> bool {
    process::is_adapted()
}

/// How the next execution of a region goes.
pub(crate) enum Decision<'w> {
    /// As before.
    Cached(&'w CachedDecision),
    /// As the program has it, and nothing is learnt from it.
    Unadapted,
    /// As [`choose`] says.
    Choose,
}

/// How the next execution of `region` goes, for which the program asks for `threads`.
#[inline(always)]
pub(crate) fn decide<'w>(
    region: &Region,
    worker: &'w Worker,
    entry: Function,
    threads: u32,
) -> Decision<'w> {
    match worker.cached(region.number) {
        Some(cached) if cached.is_valid(worker, entry, threads) => Decision::Cached(cached),
        known => look(region, worker, known, entry, threads),
    }
}

/// The same where something has happened since somebody looked.
#[inline(never)]
fn look<'w>(
    region: &Region,
    worker: &'w Worker,
    known: Option<&'w CachedDecision>,
    entry: Function,
    threads: u32,
) -> Decision<'w> {
    let adapted = &region.adapted;
    if has_bound() {
        return Decision::Choose;
    }
    let config_epoch = process::config_epoch();
    let alone = known.filter(|cached| cached.is_left_alone());
    let plain = threads == 0 && worker.is_plain();
    let by_itself = || plain && alone.is_some() && worker.gets_one_thread(region);
    if adapted.short.load(Ordering::Relaxed) || by_itself() {
        // What is asked once is not to be taken for the next region's.
        adapted.guards.take(region, worker);
        if let Some(cached) = alone.filter(|_| plain) {
            cached.validate(config_epoch, entry);
        }
        return Decision::Unadapted;
    }
    let Some(Some(adapting)) = ADAPTING.get() else { return Decision::Choose };
    let held = known.and_then(|cached| Some((cached, cached.held_in(adapted.choice())?)));
    let Some((cached, kind)) = held else { return Decision::Choose };
    let stays = worker.depth() == 0
        && (kind.oversubscribes || !worker.oversubscribed.get())
        && worksharing::leaves_alone(region)
        && worker.pool.usual(region.runtime) == Some(kind.default);
    if !stays {
        return Decision::Choose;
    }
    if adapted.guards.forbid(adapting.lifted, region, worker, entry, threads) {
        return Decision::Unadapted;
    }
    // With the guard lifted it is not.
    if threads == 0 {
        cached.validate(config_epoch, entry);
    }
    Decision::Cached(cached)
}

impl Worker {
    /// Whether there is nothing to choose from for a team that this thread starts outside of
    /// regions.
    fn gets_one_thread(&self, region: &Region) -> bool {
        self.pool.usual(region.runtime) == Some(1)
    }
}

/// Chooses for the next execution of `region`, for which the program asks for `threads` (0: none
/// in particular).
pub(crate) fn choose(region: &Region, worker: &Worker, entry: Function, threads: u32) -> Choice {
    let as_it_is = || Choice::of_the_program(threads);
    let Some(adapting) = fork::once(&ADAPTING, || isolated(prepare)) else {
        return as_it_is();
    };
    let adapted = &region.adapted;
    let forbidden = adapted.guards.forbid(adapting.lifted, region, worker, entry, threads);
    if forbidden || !adapted.has_run_before() || adapted.short.load(Ordering::Relaxed) {
        return as_it_is();
    }
    let default = match worker.depth() {
        0 => worker.pool.usual(region.runtime),
        _ => region.runtime.ask(Function::omp_get_max_threads),
    };
    let Some(default) = default else { return as_it_is() };
    let limited = default.min(adapting.most);
    if limited < 2 || worksharing::adapts(region) {
        return Choice { threads: if limited < default { limited } else { threads }, ..as_it_is() };
    }
    // Somebody else starts the same region: its execution is left out.
    let Some(mut phase) = adapted.phase.try_lock() else { return as_it_is() };
    let places = adapting.places && places::may_bind();
    if phase.as_ref().is_none_or(|phase| !phase.is_for(limited, places)) {
        adapted.chooses_anew();
        *phase = isolated(|| Phase::of(adapting, region, limited, places));
    }
    let Some(phase) = phase.as_mut() else { return as_it_is() };
    let on = phase.controller.next();
    let places = (places && on.threads() < limited)
        .then(|| pacman_core::adapt::places(&adapting.topology, on, &Placement::Compact).ok())
        .flatten();
    if places.is_some() {
        places::binds();
    }
    let wants_busy = phase.controller.state() != State::Holding;
    Choice {
        threads: if on.threads() < default { on.threads() } else { 0 },
        places: places.map(Arc::from),
        affinity: adapting.affinity(worker, on.threads(), default, wants_busy),
        wants_busy,
        on: Some(on),
        joules: adapting.rapl.as_ref().and_then(|rapl| rapl.read().ok()),
    }
}

impl Adapting {
    /// Whom the members of a team of `threads` belong to, where it matters; they are moved apart if
    /// the team before was wider than the machine, and this one is not.
    fn affinity(
        &self,
        worker: &Worker,
        threads: u32,
        default: u32,
        learns: bool,
    ) -> Option<Arc<TeamAffinity>> {
        let cpus = self.apart.as_deref()?;
        let fits = (2..=self.contexts).contains(&threads);
        let moves = fits && worker.oversubscribed.get();
        if default <= self.contexts || worker.depth() > 0 || !(moves || learns) {
            return None;
        }
        let affinity = worker.affinities.own(self.contexts);
        if moves {
            affinity.spread(threads, cpus);
        }
        Some(affinity)
    }

    /// A team of `size` has ended.
    fn ended(&self, worker: &Worker, affinity: Option<&TeamAffinity>, size: u32) {
        // Who works alone leaves the others as they are.
        if size > 1 && worker.depth() == 0 {
            worker.oversubscribed.set(size > self.contexts);
        }
        if let Some(affinity) = affinity {
            affinity.end();
        }
    }
}

/// Whether the runtime tells on standard error of every team that differs from the one before.
fn displays_affinity() -> bool {
    std::env::var("OMP_DISPLAY_AFFINITY")
        .is_ok_and(|value| value.trim().eq_ignore_ascii_case("true") || value.trim() == "1")
}

/// Looks at the machine; says in the recording why nothing is adapted.
#[cold]
fn prepare() -> Option<Adapting> {
    let refuse = |why: String| process::note(format!("nothing is adapted: {why}"));
    if displays_affinity() {
        refuse("OMP_DISPLAY_AFFINITY is set, and narrower teams would be displayed".to_owned());
        return None;
    }
    let topology = sim::install().and_then(|()| Topology::detect());
    let topology = topology.map_err(|error| refuse(error.to_string())).ok()?;
    let topology = match process::first() {
        Some(first) => topology.allowing(&first.cpus),
        None => topology,
    };
    let objective = match process::options().adapt? {
        pacman_regions::Objective::Time => Objective::Time,
        pacman_regions::Objective::Energy => Objective::Energy,
        pacman_regions::Objective::Edp => Objective::EnergyDelay,
        pacman_regions::Objective::Ed2p => Objective::EnergyDelaySquared,
    };
    let rapl = match objective.needs_energy() {
        true => Some(Rapl::detect().map_err(|error| refuse(error.to_string())).ok()?),
        false => None,
    };
    let bound = ["OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"];
    let free = !bound.iter().any(|name| std::env::var_os(name).is_some());
    let siblings = topology.contexts_per_core() > 1;
    let apart = (free && !siblings).then(|| topology.allowed().iter().collect());
    let model = process::options().model.as_deref();
    let predictor = model.and_then(|path| model::load(path, &topology, &objective));
    let lifted = Lifted::of(&process::options().lifted);
    let seconds_per_tick = process::clock().nanos_per_tick() * 1e-9;
    let long = (BREAK_EVEN / seconds_per_tick) as u64;
    Some(Adapting {
        contexts: topology.allowed().len() as u32,
        most: process::options().max_threads.unwrap_or(u32::MAX),
        topology,
        lifted,
        seconds_per_tick,
        long,
        objective,
        rapl,
        predictor,
        places: free && siblings,
        apart,
    })
}
