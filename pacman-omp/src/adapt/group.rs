//! Regions that are too short to decide alone, decided together.
//!
//! A program may spend all its time in regions of a few microseconds. A change of the team for one of them
//! costs more than it gains, because its neighbours run with another team. So the short regions that one
//! thread starts are a *group*: all of them run with teams of one size. To the group's controller a
//! *stretch* is one execution: as many executions of members as take a millisecond with the program's own
//! teams.
//!
//! Two stretches may have different members. So the cost of a stretch is its time over the time that its
//! executions usually take with the program's own team. Each member runs [`BATCH`] times with that team
//! first, which gives its usual time. Only then does it run as the group does.
//!
//! After a change of the size, threads start or end and caches are cold. The first stretch then counts in
//! the regret budget, and says nothing of later ones.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use pacman_adapt::predict::Configuration;
use pacman_adapt::{Controller, Execution, Objective, Rules, State};
use pacman_regions::arena::Widths;
use pacman_regions::{Adaptation, RuntimeFamily};
use try_lock::TryLock;

use super::adapting::{self, Adapting};
use super::decide::Choice;
use super::hold::switch_back_cost;
use super::restart_cost::{charge_alone, thread_cost};
use crate::adapted::{
    Adapted, BATCH, Change, DecidedBy, DecisionKind, Phase, TeamChoice, has_bound, has_group,
};
use crate::floating;
use crate::isolation::isolated;
use crate::process;
use crate::region::Region;
use crate::runtime::Runtime;
use crate::worker::Worker;

/// Seconds of a stretch with the program's own teams.
const STRETCH: f64 = 1e-3;
/// The starts of a thread that a stretch is worth at least, where runtimes start them anew.
const STARTS: f64 = 20.0;

/// The short regions that one thread starts.
#[derive(Debug)]
pub(super) struct Group {
    /// Differs from that of any other group.
    serial: u32,
    /// The address of the thread's [`Worker`].
    owner: usize,
    runtime: &'static Runtime,
    phase: Phase,
    /// Counts the changes of the size.
    generation: u32,
    /// A stretch, in usual ticks.
    stretch: u64,
    /// Whether the size has just changed.
    changed: bool,
    members: u32,
    /// The number of the region that joined first.
    first: u32,
    /// The usual ticks of all executions so far.
    usual: u64,
    /// Decisions in a row for regions with another default or runtime, and their number after which the
    /// next group is theirs. A program that changes its default all the time must not pay for each change.
    others: u32,
    patience: u32,
}

/// The group of the first thread that starts short regions: programs hardly start them from two.
static GROUP: TryLock<Option<Group>> = TryLock::new(None);
static SERIAL: AtomicU32 = AtomicU32::new(1);

/// The changes of a group at the end of an execution.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupChange {
    /// The group is held from now on.
    pub(super) has_settled: bool,
    /// It is held at smaller teams, and idle workers may disturb them.
    pub(super) leaves_spinning: bool,
}

/// Decides for the next execution of a short `region`, whose teams have `default` threads. `None` if the region belongs
/// to no group.
pub(super) fn decide<'w>(
    adapting: &Adapting,
    region: &Region,
    worker: &'w Worker,
    default: u32,
) -> Option<Choice<'w>> {
    let may_be_grouped =
        process::plan().narrows() && adapting.objective.is_time() && default > 1 && !has_bound();
    if !may_be_grouped {
        return None;
    }
    let mut group = GROUP.try_lock()?;
    let group = floating::isolated(|| of_worker(&mut group, adapting, region, worker, default))?;
    let member = &region.adapted.member;
    let (size, usual) = match member.is_of(group.serial) {
        true => (group.phase.controller.next().threads(), member.usual()),
        false => (default, 0),
    };
    let threads = if size < default { size } else { 0 };
    let kind = DecisionKind {
        default,
        threads,
        by: DecidedBy::Group,
        pooled: region.runtime.family == RuntimeFamily::Libgomp,
        oversubscribes: size > adapting.contexts(),
    };
    if worker.oversubscribed.get() && kind.needs_contexts() {
        return Some(Choice::Once(TeamChoice {
            affinity: adapting.affinity(worker, size, default, true),
            on: Configuration::new(size).ok(),
            ..TeamChoice::of(threads)
        }));
    }
    let cached = worker.rows.own_cached_decision(region.number);
    if cached.grouped_in(group.generation) != Some(kind) {
        cached.drain(|_| ());
        // Smaller teams take longer, which is no reason to decide alone.
        cached.hold(kind, group.generation, region.adapted.short_below().saturating_mul(8));
        cached.set_usual(usual);
    }
    cached.is_grouped().then_some(Choice::Cached(cached))
}

/// The group of the thread and runtime, made if there is none yet.
fn of_worker<'g>(
    group: &'g mut Option<Group>,
    adapting: &Adapting,
    region: &Region,
    worker: &Worker,
    default: u32,
) -> Option<&'g mut Group> {
    let owner = worker.address();
    if !has_group(owner) {
        return None;
    }
    let mut patience = 16;
    if let Some(known) = group.as_mut().filter(|known| known.owner == owner) {
        let fits = known.phase.default() == default && ptr::eq(known.runtime, region.runtime);
        known.others = if fits { 0 } else { known.others + 1 };
        if !fits && known.others < known.patience {
            return None;
        }
        patience = known.patience.saturating_mul(2);
    }
    let known = group.as_ref().filter(|known| known.owner == owner && known.others == 0);
    if known.is_none() {
        // More than any generation of a group before, whose decisions threads may still have.
        let serial = SERIAL.fetch_add(1 << 16, Ordering::Relaxed);
        let (phase, seconds) = isolated(|| phase(adapting, region, default))?;
        *group = Some(Group {
            serial,
            owner,
            runtime: region.runtime,
            phase,
            generation: serial,
            stretch: (seconds / adapting.seconds_per_tick) as u64,
            changed: false,
            members: 0,
            first: 0,
            usual: 0,
            others: 0,
            patience,
        });
    }
    let group = group.as_mut()?;
    worker.pool.group_sums.set_due(group.stretch);
    Some(group)
}

/// The phase of a group with teams of `default` threads, and the seconds of a stretch.
fn phase(adapting: &Adapting, region: &Region, default: u32) -> Option<(Phase, f64)> {
    let candidates = adapting.candidates(default, false)?;
    let mut rules = Rules::default();
    rules.bound = adapting::loss_limits();
    let mut stretch = STRETCH;
    if region.runtime.family == RuntimeFamily::Libgomp && default > 2 {
        rules.switch_back_cost = switch_back_cost(adapting, default);
        stretch = stretch.max(STARTS * thread_cost().total());
    }
    let mut controller = Controller::new(candidates, rules);
    let earlier = adapting.memory.as_ref().map(|memory| memory.evidence_of_group(default, stretch));
    controller.recall(earlier.unwrap_or_default());
    Some((Phase::new(false, 1, controller), stretch))
}

/// An execution of a short `region` took `ticks` with a team of `size`, by its cached decision or by the
/// `once` chosen number of threads. Adds it to the group that decided it, with the executions since.
pub(super) fn finished(
    adapting: &Adapting,
    region: &'static Region,
    worker: &Worker,
    once: Option<u32>,
    (size, ticks): (u32, u64),
) -> GroupChange {
    let mut lock = GROUP.try_lock();
    let group = lock.as_mut().and_then(|group| group.as_mut());
    let cached = worker.rows.own_cached_decision(region.number);
    let Some(group) = group.filter(|group| group.owner == worker.address()) else {
        cached.drain(|_| ());
        return GroupChange::default();
    };
    let kind = cached.grouped_in(group.generation);
    let wanted = match (once, kind) {
        (Some(threads), _) => threads,
        (None, Some(kind)) => kind.size(),
        // The size changed while the execution ran.
        (None, None) => {
            cached.drain(|_| ());
            return GroupChange::default();
        }
    };
    let mut own = ticks;
    if region.runtime.family == RuntimeFamily::Libgomp {
        let reduced = wanted < group.phase.default();
        let change = worker.pool.team_of(&region.adapted, size, reduced);
        // Within the group the stretch has become longer, and that says it all.
        if let Change::Wider(_, cause) = change {
            if !cause.member.is_of(group.serial) {
                let seconds = change.seconds(ticks as f64 * adapting.seconds_per_tick);
                charge_alone(cause, seconds + change.ending(), true);
                own -= (seconds / adapting.seconds_per_tick) as u64;
            }
        }
    }
    if size != wanted {
        group.phase.refused += 1;
        return GroupChange::default();
    }
    let member = &region.adapted.member;
    if member.is_of(group.serial) {
        let usual = member.usual();
        if let Some(sums) = worker.pool.group_sums.add_and_take(own, usual) {
            return group.end_stretch(adapting, sums);
        }
    } else if once.is_none() {
        let mut all = vec![own];
        cached.drain(|ticks| all.push(ticks));
        if all.len() == BATCH {
            all.sort_unstable();
            let usual = u32::try_from(all[BATCH / 2]).unwrap_or(u32::MAX).max(1);
            member.join(group.serial, usual);
            if group.members == 0 {
                group.first = region.number;
            }
            group.members += 1;
            // The next execution runs as the group does.
            cached.forget();
        }
    }
    GroupChange::default()
}

impl Group {
    /// The executions of a stretch took `ticks`, and usually take `usual`.
    fn end_stretch(&mut self, adapting: &Adapting, (ticks, usual): (u64, u64)) -> GroupChange {
        let before = self.phase.controller.state();
        self.usual += usual;
        let stretch = self.stretch as f64 * adapting.seconds_per_tick;
        let execution = Execution::seconds(stretch * ticks as f64 / usual as f64);
        let on = self.phase.controller.next();
        if std::mem::take(&mut self.changed) {
            self.phase.outlier(&Objective::Time, on, &execution);
        } else {
            self.phase.enter(&Objective::Time, on, &execution);
        }
        if self.phase.controller.next() != on {
            self.changed = true;
            self.generation += 1;
            process::advance_config_epoch();
        }
        let state = self.phase.controller.state();
        let is_smaller = self.phase.controller.next().threads() < self.phase.default();
        GroupChange {
            has_settled: state == State::Holding && before != State::Holding,
            leaves_spinning: state == State::Holding
                && is_smaller
                && adapting.spinning_matters(self.phase.default()),
        }
    }
}

/// Charges `seconds` that the group's smaller teams cost a region that is not in it. False if `cause` is
/// in no group.
pub(super) fn charge(cause: &Adapted, seconds: f64, recurring: bool) -> bool {
    let member = &cause.member;
    if let Some(Some(group)) = GROUP.try_lock().as_deref_mut() {
        if member.is_of(group.serial) {
            group.phase.charge(seconds, recurring);
        }
    }
    member.is_of_any()
}

/// The record of the group's decisions for `region`; `None` if the region is in no group.
pub(super) fn adaptation(region: &Region) -> Option<Adaptation> {
    let group = GROUP.try_lock()?;
    let group = group.as_ref().filter(|group| region.adapted.member.is_of(group.serial))?;
    let controller = &group.phase.controller;
    let on = controller.next();
    let worker = Worker::known().filter(|worker| worker.address() == group.owner);
    let widths = worker.map_or_else(Widths::default, |worker| {
        worker.rows.widths_of(region.number, group.phase.default())
    });
    let usual = u64::from(region.adapted.member.usual());
    let adapting = adapting::prepared().filter(|_| region.number == group.first);
    let remembered = adapting.and_then(|adapting| {
        let memory = adapting.memory.as_ref()?;
        memory.remembered_of_group(&group.phase, usual as f64 * adapting.seconds_per_tick)
    });
    let share = ((widths.wide + widths.narrow) * usual) as f64 / group.usual.max(1) as f64;
    let alone = "too short to be decided by the execution, so decided by the millisecond";
    let together = match group.members - 1 {
        0 => alone.to_owned(),
        1 => "too short to be decided alone, so decided together with another short region"
            .to_owned(),
        others => format!(
            "too short to be decided alone, so decided together with {others} other short regions"
        ),
    };
    Some(Adaptation {
        state: controller.state().to_string(),
        threads: on.threads(),
        configuration: on.to_string(),
        why: format!("{together}: {}", controller.why()),
        packed: Vec::new(),
        // Teams have other sizes in between.
        all_in_rows: false,
        reduced: widths.narrow,
        // The subtraction turns a loss of 0 into 0, where a negation would give -0.
        gained: Some(0.0 - controller.account().lost() * share.min(1.0)),
        remembered,
    })
}
