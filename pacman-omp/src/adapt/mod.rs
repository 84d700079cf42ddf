//! How many threads the next execution of a region gets.
//!
//! [`choose`] is asked before a team starts and [`finished`] told after it has ended; in between
//! they are [`pacman_core::adapt::Controller`]'s, one for each region. What a program could notice
//! of a narrower team is what the [`guards`] look for; what narrowing costs other regions is
//! [charged](charge) to the one that is narrowed.

mod charge;
mod guards;
mod model;
mod places;
pub(crate) mod waiting;

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use pacman_core::adapt::{
    Candidates, Controller, Execution, Microjoules, Objective, Rapl, Rules, State,
};
use pacman_core::predict::{Configuration, Predictor};
use pacman_core::{Place, Placement, Topology};
use pacman_regions::{Adaptation, Guarded, RuntimeFamily};
use try_lock::TryLock;

pub(crate) use charge::Pool;
pub(crate) use guards::Guards;
use guards::Lifted;
pub(crate) use places::{Bound, has_bound};

use crate::floating;
use crate::fork;
use crate::function::Function;
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
}

static ADAPTING: OnceLock<Option<Adapting>> = OnceLock::new();

/// What adaptation keeps for a region.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Adapted {
    pub(crate) guards: Guards,
    /// It has run once as the program has it, so that the guards know what it does.
    looked: AtomicBool,
    /// It is left alone because it is short.
    short: AtomicBool,
    phase: TryLock<Option<Phase>>,
}

#[derive(Debug)]
struct Phase {
    /// The threads that the runtime would have given it.
    default: u32,
    controller: Controller,
    /// Seconds that its narrowing has cost other regions, not yet entered.
    charged: f64,
    /// Teams that did not get the size that was chosen.
    refused: u64,
}

/// How one execution is to run.
pub(crate) struct Choice {
    /// What the real entry is given; 0 leaves it to the runtime.
    pub(crate) threads: u32,
    /// Where its members run, if it matters.
    pub(crate) places: Option<Arc<[Place]>>,
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
}

impl Choice {
    /// As the program has it.
    pub(crate) fn of_the_program(threads: u32) -> Choice {
        Choice { threads, places: None, wants_busy: false, on: None, joules: None }
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

/// Whether `region` is left alone for being short, so that nothing is to be chosen for its next
/// execution.
#[inline]
pub(crate) fn leaves_alone(region: &Region, worker: &Worker) -> bool {
    if !region.adapted.short.load(Ordering::Relaxed) || has_bound() {
        return false;
    }
    // What is asked once is not to be taken for the next region's.
    region.adapted.guards.take(worker);
    true
}

/// Chooses for the next execution of `region`, for which the program asks for `threads` (0: none
/// in particular).
pub(crate) fn choose(region: &Region, worker: &Worker, entry: Function, threads: u32) -> Choice {
    let as_it_is = || Choice::of_the_program(threads);
    let Some(adapting) = fork::once(&ADAPTING, || floating::apart(prepare)) else {
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
    if phase.as_ref().is_none_or(|phase| phase.default != limited) {
        *phase = floating::apart(|| Phase::of(adapting, region, limited));
    }
    let Some(phase) = phase.as_mut() else { return as_it_is() };
    let on = phase.controller.next();
    let places = (adapting.places && on.threads() < limited)
        .then(|| pacman_core::adapt::places(&adapting.topology, on, &Placement::Compact).ok())
        .flatten();
    if places.is_some() {
        places::binds();
    }
    Choice {
        threads: if on.threads() < default { on.threads() } else { 0 },
        places: places.map(Arc::from),
        wants_busy: phase.controller.state() != State::Holding,
        on: Some(on),
        joules: adapting.rapl.as_ref().and_then(|rapl| rapl.read().ok()),
    }
}

/// An execution as the program has it took `ticks` with a team of `size`. Computes nothing with
/// floating-point numbers, but where threads are started anew.
pub(crate) fn finished_alone(region: &'static Region, worker: &Worker, size: u32, ticks: u64) {
    let Some(Some(adapting)) = ADAPTING.get() else { return };
    if region.runtime.family == RuntimeFamily::Libgomp && worker.pool.changes_to(size) {
        floating::apart(|| worker.pool.team_of(region, size, false));
    }
    if ticks > adapting.long && region.adapted.short.load(Ordering::Relaxed) {
        // The next ones are looked at, until it is found to be short again.
        region.adapted.short.store(false, Ordering::Relaxed);
    }
}

/// The execution that was chosen so took `ticks` with a team of `size`, whose members were busy
/// for `busy` ticks in all.
pub(crate) fn finished(
    region: &'static Region,
    worker: &Worker,
    choice: &Choice,
    size: u32,
    ticks: u64,
    busy: u64,
) {
    let Some(Some(adapting)) = ADAPTING.get() else { return };
    let Some(on) = choice.on else { return };
    let libgomp = region.runtime.family == RuntimeFamily::Libgomp;
    let narrowed = choice.threads > 0;
    let rehired = if libgomp { worker.pool.team_of(region, size, narrowed) } else { 0.0 };
    let Some(mut phase) = region.adapted.phase.try_lock() else { return };
    let Some(phase) = phase.as_mut() else { return };
    if size != on.threads() {
        phase.refused += 1;
        return;
    }
    let seconds = ticks as f64 * adapting.seconds_per_tick;
    let seconds = seconds - rehired.min(seconds / 2.0) + std::mem::take(&mut phase.charged);
    let mut execution = Execution::seconds(seconds);
    if choice.wants_busy {
        execution = execution.with_busy(busy as f64 * adapting.seconds_per_tick);
    }
    if let (Some(rapl), Some(before)) = (&adapting.rapl, &choice.joules) {
        if let Ok(now) = rapl.read() {
            execution = execution.with_joules(rapl.joules_since(before, &now));
        }
    }
    let cost = adapting.objective.cost(&execution).unwrap_or(f64::NAN);
    // What it refuses it says in `why`.
    let _ = phase.controller.finished_with(on, cost, &execution);
    match phase.controller.state() {
        State::LeftAlone if ticks <= adapting.long && adapting.most == u32::MAX => {
            region.adapted.short.store(true, Ordering::Relaxed);
        }
        State::Holding if narrowed && !libgomp => {
            let spare = adapting.topology.contexts_per_core() > 1
                || phase.default > adapting.contexts
                || adapting.objective.needs_energy();
            waiting::block(region.runtime, spare);
        }
        _ => {}
    }
}

/// Looks at the machine; says in the recording why nothing is adapted.
#[cold]
fn prepare() -> Option<Adapting> {
    let refuse = |why: String| process::note(format!("nothing is adapted: {why}"));
    let topology = Topology::detect().map_err(|error| refuse(error.to_string())).ok()?;
    let topology = match process::first() {
        Some(first) => topology.allowing(&first.cpus),
        None => topology,
    };
    let objective = match process::wishes().adapt? {
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
    let places = topology.contexts_per_core() > 1
        && !bound.iter().any(|name| std::env::var_os(name).is_some());
    let model = process::wishes().model.as_deref();
    let predictor = model.and_then(|path| model::load(path, &topology, &objective));
    let lifted = Lifted::of(&process::wishes().lifted);
    let seconds_per_tick = process::clock().nanos_per_tick() * 1e-9;
    let long = (BREAK_EVEN / seconds_per_tick) as u64;
    Some(Adapting {
        contexts: topology.allowed().len() as u32,
        most: process::wishes().max_threads.unwrap_or(u32::MAX),
        topology,
        lifted,
        seconds_per_tick,
        long,
        objective,
        rapl,
        predictor,
        places,
    })
}

impl Phase {
    fn of(adapting: &Adapting, region: &Region, default: u32) -> Option<Phase> {
        let mut candidates =
            Candidates::for_team(&adapting.topology, default as usize, None).ok()?;
        if adapting.topology.contexts_per_core() > 1 && !adapting.places {
            candidates = candidates.by_threads().ok()?;
        }
        let mut rules = Rules::default();
        if let Some(predictor) = &adapting.predictor {
            match model::among(predictor.as_ref(), &candidates) {
                Ok(known) => {
                    candidates = known;
                    rules.predictor = Some(Arc::clone(predictor));
                }
                Err(why) => process::note(format!(
                    "searching without the model where teams have {default} threads: {why}"
                )),
            }
        }
        rules.degree = adapting.objective.degree();
        rules.break_even = BREAK_EVEN;
        if region.runtime.family == RuntimeFamily::Libgomp && default > 2 {
            // Narrowing to more than one thread ends the others.
            rules.break_even = BREAK_EVEN.max(charge::of_a_thread());
        }
        let controller = Controller::new(candidates, rules);
        Some(Phase { default, controller, charged: 0.0, refused: 0 })
    }
}

/// What was done with a region, for the recording.
pub(crate) fn outcome(region: &Region, hosted_teams: u32) -> Option<Adaptation> {
    if !is_wished() {
        return None;
    }
    let guards = region.adapted.guards.acted();
    // A thread that is in the midst of a decision while the process ends keeps it.
    let phase = region.adapted.phase.try_lock();
    let phase = phase.as_ref().and_then(|phase| phase.as_ref());
    let Some(phase) = phase else {
        let why = match guards.last() {
            Some(Guarded { why, .. }) => why.clone(),
            None if region.entry == Function::ompt_start_tool => {
                "seen through OMPT, which tells of teams when they have started".to_owned()
            }
            None if region.loops.adapt() => "its loops are adapted one by one".to_owned(),
            None if matches!(ADAPTING.get(), Some(None)) => "nothing is adapted here".to_owned(),
            None if hosted_teams < 2 => "never ran on more than one thread".to_owned(),
            None => "ran too few times: the first execution shows what a region does".to_owned(),
        };
        return Some(Adaptation {
            state: "as it is".to_owned(),
            threads: hosted_teams,
            configuration: hosted_teams.to_string(),
            why,
            narrowed: 0,
            gained: None,
            guards,
            loops: worksharing::recorded(region),
        });
    };
    let on = phase.controller.next();
    let mut why = phase.controller.why();
    if phase.refused > 0 {
        why += &format!("; {} teams did not get the threads that were chosen", phase.refused);
    }
    let time = matches!(process::wishes().adapt, Some(pacman_regions::Objective::Time));
    Some(Adaptation {
        state: phase.controller.state().to_string(),
        threads: on.threads(),
        configuration: on.to_string(),
        why,
        narrowed: phase.controller.narrowed(),
        // Without a sign where nothing was: 0 - 0 is 0, and -0 is not.
        gained: time.then(|| 0.0 - phase.controller.account().lost()),
        guards,
        loops: worksharing::recorded(region),
    })
}
