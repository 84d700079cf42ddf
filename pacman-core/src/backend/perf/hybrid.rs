//! Counters of a hybrid processor: a group for each core type, read together.
//!
//! The kernel keeps a group off the counters while its thread runs on the other core type. So a
//! group alone is not always on, and RDPMC of it may fault: each read is a `read(2)` of each group.
//!
//! # No count is lost silently
//!
//! A pinned group that finds its counters taken is in error for good, and reads end of file. This
//! holds on each core type by itself.
//!
//! A thread may also run where no group counts: on a core type whose PMU the kernel does not drive.
//! The times that the kernel keeps for each group show that. Group `i` was enabled at the
//! thread's time `e(i)`, and is read at `t(i)`; both ascend with `i`. Let `on(i, a, b)` be the time between
//! `a` and `b` that the thread spent on core type `i`. Then
//!
//! ```text
//! missed = enabled(1) - sum of running(i)
//!        = sum of on(i, e(1), e(i)) - sum of on(i, t(1), t(i)) + time on none of the types
//! ```
//!
//! The first sum is a constant of the groups. The second is at least 0 and lasts as long as a read.
//! So `missed` above the constant proves lost time. The constant itself is bounded when the groups
//! are enabled. The reader then reads group 1 again after the others. `missed` is at most the constant
//! plus the time between both reads ([`HybridCounters::set_bound`]). So lost time up to the length of
//! one read stays unnoticed. This holds for the whole life of the counters, not for each read.

use std::cell::OnceCell;
use std::marker::PhantomData;
use std::sync::Arc;

use super::accounting::Ledgers;
use super::conflict;
use super::group::{Group, HEADER};
use super::plan::GroupPlan;
use super::prepared::Prepared;
use crate::backend::{Caps, Counters, MAX_EVENTS, ReadPath, Reading, Target};
use crate::seam::PerfSys;
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::cancel;

/// The groups of one target: each counts on one core type, or on all.
pub(super) struct HybridCounters<S: PerfSys + Clone> {
    groups: Vec<TypedGroup<S>>,
    accounting: Option<Ledgers>,
    prepared: Arc<Prepared>,
    target: Target,
    /// The most that `missed` can be without lost time; `None` if the plan does not claim all time of a
    /// thread.
    bound: Option<u64>,
    /// Readers stay on the thread that opened them.
    one_thread: PhantomData<*const ()>,
}

/// An open group and its plan.
pub(super) struct TypedGroup<S: PerfSys + Clone> {
    pub(super) plan: GroupPlan,
    pub(super) group: Group<S>,
    /// The owner of the counters that the group has lost.
    competitor: OnceCell<String>,
}

/// Nanoseconds that a group was enabled, and that it counted.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    enabled: u64,
    running: u64,
}

impl<S: PerfSys + Clone> TypedGroup<S> {
    pub(super) fn new(plan: GroupPlan, group: Group<S>) -> TypedGroup<S> {
        TypedGroup { plan, group, competitor: OnceCell::new() }
    }

    fn switch(&self, prepared: &Prepared, on: bool) -> Result<()> {
        if !self.group.is_ours() {
            return Err(prepared.forked());
        }
        let switched = if on { self.group.enable() } else { self.group.disable() };
        switched.map_err(|errno| prepared.unswitched(if on { "on" } else { "off" }, errno))
    }

    /// Reads the group's counts to their places.
    fn read(
        &self,
        prepared: &Prepared,
        target: Target,
        counts: &mut [u64; MAX_EVENTS],
    ) -> Result<Times> {
        if !self.group.is_ours() {
            return Err(prepared.forked());
        }
        let mut words = [0; HEADER + MAX_EVENTS];
        let own = &mut counts[self.plan.members.clone()];
        let answer = &mut words[..HEADER + own.len()];
        match self.group.read(answer) {
            // End of file: a pinned group lost its counters and is in error for good.
            Ok(got) if got < answer.len() => return Err(self.lost(prepared)),
            Ok(_) => {}
            Err(errno) => return Err(prepared.unreadable(errno)),
        }
        own.copy_from_slice(&answer[HEADER..]);
        let times = Times { enabled: answer[1], running: answer[2] };
        // Where the target cannot leave the group's cores, the group is on whenever it is enabled.
        let stays = self.plan.core_type.is_none() || matches!(target, Target::Context(_));
        if stays && times.enabled != times.running {
            return Err(self.lost(prepared));
        }
        Ok(times)
    }

    #[cold]
    fn lost(&self, prepared: &Prepared) -> Error {
        let members = &prepared.plan.members[self.plan.members.clone()];
        let find = || conflict::competitor_on_core_type(members, &prepared.permissions);
        prepared.off_counters(self.competitor.get_or_init(|| cancel::put_off_during(find)))
    }
}

impl<S: PerfSys + Clone> HybridCounters<S> {
    /// The reader of groups that are enabled.
    ///
    /// # Errors
    /// `NotScheduled` when a group did not get its counters.
    pub(super) fn open(
        groups: Vec<TypedGroup<S>>,
        accounting: Option<Ledgers>,
        prepared: Arc<Prepared>,
        target: Target,
    ) -> Result<HybridCounters<S>> {
        let one_thread = PhantomData;
        let mut counters =
            HybridCounters { groups, accounting, prepared, target, bound: None, one_thread };
        counters.set_bound()?;
        counters.read(&mut Reading::EMPTY.clone())?;
        Ok(counters)
    }

    /// Finds the most that can be missed without lost time, after the groups were enabled.
    fn set_bound(&mut self) -> Result<()> {
        let mut counts = [0; MAX_EVENTS];
        let times = self.read_groups(&mut counts)?;
        let is_of_thread = !matches!(self.target, Target::Context(_));
        let claims_all_time = self.prepared.plan.claims_all_time && is_of_thread;
        self.bound = match self.groups.first().filter(|_| claims_all_time) {
            None => None,
            Some(first) => {
                let again = first.read(&self.prepared, self.target, &mut counts)?;
                Some(again.enabled.saturating_sub(again.running + times.others_running))
            }
        };
        Ok(())
    }

    /// Reads all groups in their order.
    fn read_groups(&self, counts: &mut [u64; MAX_EVENTS]) -> Result<AllTimes> {
        let mut all = AllTimes::default();
        for (number, group) in self.groups.iter().enumerate() {
            let own = group.read(&self.prepared, self.target, counts)?;
            match (number, &group.plan.core_type) {
                (0, _) => all.first = own,
                (_, Some(_)) => all.others_running += own.running,
                // On all the time, whatever core type the thread is on.
                (_, None) => {}
            }
        }
        Ok(all)
    }

    #[cold]
    fn missed(&self, nanoseconds: u64) -> Error {
        let pmus: Vec<&str> = self
            .groups
            .iter()
            .filter_map(|group| Some(group.plan.core_type.as_ref()?.name()))
            .collect();
        let pmus = pmus.join(", ");
        Error::new(
            ErrorKind::NotScheduled,
            format!(
                "cannot read {}: {} ran for {nanoseconds} ns where none of {pmus} counts; bind it \
                 to the cores in /sys/bus/event_source/devices/*/cpus of these",
                self.prepared.names(),
                self.target
            ),
        )
    }
}

/// The times of all groups, read one after the other.
#[derive(Clone, Copy, Debug, Default)]
struct AllTimes {
    first: Times,
    /// The sum over the other core types.
    others_running: u64,
}

impl<S: PerfSys + Clone> Counters for HybridCounters<S> {
    fn read(&self, into: &mut Reading) -> Result<()> {
        let all = self.read_groups(&mut into.counts)?;
        into.enabled_ns = all.first.enabled;
        into.running_ns = all.first.running + all.others_running;
        let missed = into.enabled_ns.saturating_sub(into.running_ns);
        if let Some(bound) = self.bound.filter(|bound| missed > *bound) {
            return Err(self.missed(missed - bound));
        }
        match &self.accounting {
            Some(accounting) => accounting.read(&mut into.counts),
            None => Ok(()),
        }
    }

    fn caps(&self) -> Caps {
        let (simulated, doubt) = (self.prepared.simulated, self.prepared.doubt());
        Caps { simulated, doubt, ..Caps::of(ReadPath::ReadCall) }
    }

    fn stand_by(&mut self) -> Result<bool> {
        for group in &self.groups {
            group.switch(&self.prepared, false)?;
        }
        Ok(true)
    }

    /// Sets a new bound: while the groups stood by, their times diverged by the length of the switches.
    fn resume(&mut self) -> Result<()> {
        for group in &self.groups {
            group.switch(&self.prepared, true)?;
        }
        self.set_bound()
    }
}

#[cfg(test)]
mod tests;
