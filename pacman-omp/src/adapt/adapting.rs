//! Facts that adaptation shares among all regions of the process.

use std::sync::{Arc, OnceLock};

use pacman_adapt::predict::Predictor;
use pacman_adapt::{Candidates, Objective, Rapl, RegretLimits};
use pacman_core::{Topology, energy};
use try_lock::TryLock;

use super::memory::Memory;
use super::model;
use super::sharing::{self, Sharing};
use crate::adapted::TeamAffinity;
use crate::first_region;
use crate::isolation::isolated;
use crate::machine;
use crate::notes;
use crate::once::once;
use crate::process;
use crate::worker::Worker;

/// Regions shorter than this are left alone where a change of threads costs no more than a decision.
pub(super) const BREAK_EVEN: f64 = 20e-6;

/// The machine, the user's options, and the facts that follow from them.
pub(super) struct Adapting {
    pub(super) topology: Topology,
    /// The hardware contexts that the process may use.
    contexts: Box<[u32]>,
    /// The most threads that the user lets a team have.
    pub(super) most: u32,
    /// This process among others that share the machine, if the user wants that.
    pub(super) sharing: Option<Sharing>,
    pub(super) seconds_per_tick: f64,
    pub(super) objective: Objective,
    pub(super) rapl: Option<Rapl>,
    pub(super) predictor: Option<Arc<dyn Predictor>>,
    /// See [`Adapting::candidates`].
    candidates: TryLock<Vec<(u32, bool, Candidates)>>,
    /// The measurements of earlier runs, if the user has them kept.
    pub(super) memory: Option<Memory>,
    members: Members,
}

/// Where the members of smaller teams run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Members {
    /// Where the user binds them.
    Bound,
    /// At places that are chosen with their number: SMT siblings would otherwise share a core while another core is
    /// empty, and threads would run on any NUMA nodes.
    Placed,
    /// Apart, if the team before had more threads than there are contexts: they would otherwise go on sharing.
    Apart,
}

static ADAPTING: OnceLock<Option<Adapting>> = OnceLock::new();

/// The facts, if they were prepared and adaptation is possible.
#[inline]
pub(super) fn prepared() -> Option<&'static Adapting> {
    ADAPTING.get().and_then(Option::as_ref)
}

/// The facts, prepared at the first call; `None` if adaptation is impossible.
#[inline]
pub(super) fn get_or_prepare() -> Option<&'static Adapting> {
    once(&ADAPTING, || isolated(prepare)).as_ref()
}

/// The process ends, or becomes another program: the others may have its share. Only stores numbers.
pub(crate) fn leave_shared() {
    if let Some(sharing) = prepared().and_then(|adapting| adapting.sharing.as_ref()) {
        sharing.leave();
    }
}

/// Whether adaptation was found to be impossible.
pub(super) fn is_impossible() -> bool {
    matches!(ADAPTING.get(), Some(None))
}

impl Adapting {
    /// The number of contexts that the process may use.
    #[inline]
    pub(super) fn contexts(&self) -> u32 {
        self.contexts.len() as u32
    }

    /// Whether places are chosen for members.
    pub(super) fn places(&self) -> bool {
        self.members == Members::Placed
    }

    /// The threads of a team that has `default` in the program, within the limits.
    #[inline]
    pub(super) fn limited(&self, default: u32) -> u32 {
        default.min(self.most).min(self.share())
    }

    /// The most threads that a team may have beside other programs.
    #[inline]
    pub(super) fn share(&self) -> u32 {
        self.sharing.as_ref().map_or(u32::MAX, Sharing::share)
    }

    /// Whether a team of `default` threads runs as the program has it, because there is no other
    /// configuration.
    pub(super) fn has_no_choice(&self, default: u32) -> bool {
        let limited = self.limited(default);
        limited == default
            && self.candidates(limited, self.places()).is_none_or(|all| all.all().len() < 2)
    }

    /// The configurations of teams with `default` threads, placed or not. All regions share them, with what
    /// decisions need to know of each.
    pub(super) fn candidates(&self, default: u32, places: bool) -> Option<Candidates> {
        let mut known = self.candidates.try_lock();
        let is_for = |(threads, placed, _): &&(u32, bool, Candidates)| {
            (*threads, *placed) == (default, places)
        };
        if let Some((.., shared)) = known.as_ref().and_then(|known| known.iter().find(is_for)) {
            return Some(shared.clone());
        }
        let all = Candidates::for_team(&self.topology, default as usize, None).ok()?;
        let all = if places { all } else { all.by_threads().ok()? };
        let all = if process::plan().narrows() { all } else { all.of_default_size() };
        if let Some(known) = &mut known {
            known.push((default, places, all.clone()));
        }
        Some(all)
    }

    /// The affinities of a team of `threads`, if they matter. Spreads the members if this team fits
    /// the machine and the team before did not.
    pub(super) fn affinity(
        &self,
        worker: &Worker,
        threads: u32,
        default: u32,
        learns: bool,
    ) -> Option<Arc<TeamAffinity>> {
        let contexts = self.contexts();
        let fits = (2..=contexts).contains(&threads);
        let moves = fits && worker.oversubscribed.get();
        if self.members != Members::Apart || default <= contexts || !(moves || learns) {
            return None;
        }
        let affinity = worker.affinities.own(contexts);
        if moves {
            affinity.spread(threads, &self.contexts);
        }
        Some(affinity)
    }

    /// Whether a spinning thread takes something from a working one, where teams have `default` threads.
    pub(super) fn spinning_matters(&self, default: u32) -> bool {
        self.topology.contexts_per_core() > 1
            || default > self.contexts()
            || self.objective.needs_energy()
    }

    /// A team of `size` has ended.
    pub(super) fn ended(&self, worker: &Worker, affinity: Option<&TeamAffinity>, size: u32) {
        // A thread that works alone leaves the others where they are.
        if size > 1 && worker.depth() == 0 {
            worker.oversubscribed.set(size > self.contexts());
        }
        if worker.depth() == 0 {
            let usual = worker.pool.usual_size();
            sharing::look(self.sharing.as_ref(), || worker.now(), usual);
        }
        if let Some(affinity) = affinity {
            affinity.end();
        }
    }
}

/// The limits of what adaptation may cost: the user's, or the usual ones.
pub(super) fn loss_limits() -> RegretLimits {
    let given = process::options().max_loss;
    given.map_or_else(RegretLimits::default, |most| RegretLimits::within(most.part()))
}

/// Whether the runtime prints the affinity of every team that differs from the one before.
fn displays_affinity() -> bool {
    std::env::var("OMP_DISPLAY_AFFINITY")
        .is_ok_and(|value| value.trim().eq_ignore_ascii_case("true") || value.trim() == "1")
}

/// Examines the machine. Notes in the recording why adaptation is impossible.
#[cold]
fn prepare() -> Option<Adapting> {
    let refuse = |why: String| notes::note(format!("nothing is adapted: {why}"));
    if displays_affinity() {
        refuse("OMP_DISPLAY_AFFINITY is set, and narrower teams would be displayed".to_owned());
        return None;
    }
    let topology = machine::topology().map_err(|error| refuse(error.to_string())).ok()?;
    let topology = match first_region::known() {
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
        true => Some(energy::detect().map_err(|error| refuse(error.to_string())).ok()?),
        false => None,
    };
    let members = match pacman_adapt::has_places(&topology) {
        _ if machine::bound_by().is_some() => Members::Bound,
        true => Members::Placed,
        false => Members::Apart,
    };
    let model = process::options().model.as_deref();
    let predictor = model.and_then(|path| model::load(path, &topology, &objective));
    let memory = Memory::read(&topology);
    let seconds_per_tick = process::clock().nanos_per_tick() * 1e-9;
    let narrows = process::plan().narrows();
    if !narrows {
        notes::note(
            "teams and loops stay as the program has them: fewer threads need --narrow".to_owned(),
        );
    }
    let sharing = process::options().share.as_ref().filter(|_| narrows);
    Some(Adapting {
        contexts: topology.allowed().iter().collect(),
        most: process::options().max_threads.filter(|_| narrows).unwrap_or(u32::MAX),
        sharing: sharing.and_then(|segment| Sharing::join(segment, &topology, seconds_per_tick)),
        topology,
        seconds_per_tick,
        objective,
        rapl,
        predictor,
        candidates: TryLock::new(Vec::new()),
        memory,
        members,
    })
}
