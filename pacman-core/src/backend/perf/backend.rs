//! The backend itself: events that are tried once and opened by each thread.

use std::sync::Arc;

use crate::arch::UserReads;
use crate::backend::summed::SummedCounters;
use crate::backend::{Backend, Counters, Target};
use crate::descriptor;
use crate::event::Event;
use pacman_events::{Error, ErrorKind, Result};

use super::accounting::Ledgers;
use super::explain::Reach;
use super::group::{Ask, Group, ResolveError};
use super::hybrid::{HybridCounters, TypedGroup};
use super::plan::{GroupPlan, Plan, Sharing};
use super::prepared::Prepared;
use super::sys::Kernel;
use super::{conflict, reader};
use crate::platform::{PerfPermissions, PlatformRef};
use crate::seam::PerfSys;

/// A set of events, tried on this machine and ready to be opened by threads.
///
/// Holds groups of its own that are never enabled. While they live, the kernel keeps its
/// software-event paths patched in. That makes every further open some sixty times cheaper than the
/// first.
#[derive(Debug)]
pub struct PerfBackend<S: PerfSys + Clone = Kernel> {
    sys: S,
    prepared: Arc<Prepared>,
    _held: Vec<Group<S>>,
}

impl PerfBackend<Kernel> {
    /// Tries `events` on the calling thread.
    ///
    /// # Errors
    /// `Empty`, `TooManyEvents`, `Unsupported` for hardware events where the driver is not
    /// [trusted](PerfPermissions::driver_doubt), and what the kernel says about the events:
    /// `NoPmu`, `Permission`, `Unsupported`, `Conflict`, `NoDescriptors`.
    pub fn new(events: &[Event], sharing: Sharing) -> Result<PerfBackend> {
        PerfBackend::with_sys(Kernel, events, sharing, PerfPermissions::read())
    }
}

impl<S: PerfSys + Clone> PerfBackend<S> {
    /// As [`new`](PerfBackend::new), on another kernel seam and other facts.
    ///
    /// # Errors
    /// As for [`new`](PerfBackend::new).
    pub fn with_sys(
        sys: S,
        events: &[Event],
        sharing: Sharing,
        permissions: PerfPermissions,
    ) -> Result<PerfBackend<S>> {
        let plan = Plan::new(events, sharing, &permissions)?;
        permissions.check_trust(&plan)?;
        Ledgers::open(&plan.accounting, Target::Caller, &permissions)?;
        let simulated = !sys.is_real();
        let prepared = Arc::new(Prepared { plan, permissions, simulated });
        let mut backend = PerfBackend { sys, prepared, _held: Vec::new() };
        while !backend.prepared.plan.members.is_empty() {
            match backend.open_groups(Target::Caller, UserReads::Missing) {
                Ok(groups) => {
                    backend._held = groups.into_iter().map(|open| open.group).collect();
                    break;
                }
                // The kernel or a seccomp filter refuses the event. The kernel's accounting has the
                // same count.
                Err(refusal) => {
                    match backend.prepared.plan.without(refusal.member, refusal.errno) {
                        Some(plan) => {
                            let permissions = backend.prepared.permissions.clone();
                            backend.prepared = Arc::new(Prepared { plan, permissions, simulated });
                        }
                        None => return Err(backend.explain(Target::Caller, refusal)),
                    }
                }
            }
        }
        Ok(backend)
    }

    /// Opens the groups that count on `target`, not yet enabled.
    fn open_groups(
        &self,
        target: Target,
        user_reads: UserReads,
    ) -> Result<Vec<TypedGroup<S>>, ResolveError> {
        let plan = &self.prepared.plan;
        let exclusive = plan.sharing == Sharing::Pinned;
        let open = |group: &GroupPlan| {
            let members = &plan.members[group.members.clone()];
            let opened = Group::open(&self.sys, members, target, exclusive, user_reads);
            let opened = opened.map_err(|refusal| ResolveError {
                member: group.members.start + refusal.member,
                ..refusal
            })?;
            Ok(TypedGroup::new(group.clone(), opened))
        };
        plan.groups.iter().filter(|group| group.counts(target)).map(open).collect()
    }

    /// Events that count everywhere cannot be counted on a context that no PMU has.
    #[cold]
    fn uncounted_core(&self, target: Target) -> Error {
        Error::new(
            ErrorKind::Unsupported,
            format!(
                "cannot count {} for {target}: it is on none of these PMUs' lists of CPUs; count \
                 other CPUs, or events of the kernel's own",
                self.prepared.names()
            ),
        )
    }

    /// The error for a member that the kernel refused: by itself, or beside the others.
    #[cold]
    fn explain(&self, target: Target, refusal: ResolveError) -> Error {
        let members = &self.prepared.plan.members;
        let member = &members[refusal.member];
        let (hardware, kernel) = match member.ask {
            Ask::Hardware(ask) => (true, ask.kernel),
            Ask::Software(ask) => (false, ask.in_kernel),
        };
        let reach = match &member.encoding {
            Some(encoding) if encoding.needs.privilege => Reach::Sibling,
            _ if kernel => Reach::Kernel,
            _ => Reach::User,
        };
        let group = self.prepared.plan.groups.iter().map(|group| group.members.clone());
        let first = group.rev().find(|members| members.start <= refusal.member);
        let first = first.map_or(0, |members| members.start);
        if refusal.errno.0 == libc::EINVAL && refusal.member > first {
            let only = std::slice::from_ref(member);
            let alone = Group::open(&self.sys, only, target, false, UserReads::Missing);
            if alone.is_ok() {
                let others: Vec<&str> =
                    members[first..refusal.member].iter().map(|m| m.name.as_str()).collect();
                let group = &members[first..=refusal.member];
                let why = conflict::advice(group, &self.prepared.permissions);
                return Error::from_errno(
                    ErrorKind::Conflict,
                    refusal.errno.0,
                    format!("cannot count {} beside {}: {why}", member.name, others.join(", ")),
                );
            }
        }
        let mut permissions = self.prepared.permissions.clone();
        if self.sys.is_real() {
            // The limit may have been changed since the session began.
            permissions.descriptors = descriptor::limit();
        }
        permissions.explain(&member.name, hardware, reach, target, refusal.errno)
    }
}

impl<S: PerfSys + Clone> Backend for PerfBackend<S> {
    fn open(&self, target: Target) -> Result<Box<dyn Counters>> {
        let Prepared { plan, permissions, .. } = &*self.prepared;
        let refused = |refusal| self.explain(target, refusal);
        let accounting = (!plan.accounting.is_empty())
            .then(|| Ledgers::open(&plan.accounting, target, permissions))
            .transpose()?;
        // User reads are of the executing thread's counters, so pages of other targets are useless.
        let user_reads = match target {
            Target::Caller => plan.user_reads,
            _ => UserReads::Missing,
        };
        if plan.claims_all_time && !plan.groups.iter().any(|group| group.is_of_core_of(target)) {
            return Err(self.uncounted_core(target));
        }
        let groups = self.open_groups(target, user_reads).map_err(refused)?;
        for group in &groups {
            let first = group.plan.members.start;
            let enabled = group.group.enable();
            enabled.map_err(|errno| refused(ResolveError { member: first, errno }))?;
        }
        let prepared = Arc::clone(&self.prepared);
        let counters: Box<dyn Counters> = if plan.is_by_core_type() {
            Box::new(HybridCounters::open(groups, accounting, prepared, target)?)
        } else {
            let group = groups.into_iter().next().map(|open| open.group);
            reader::counters(group, accounting, prepared, target)?
        };
        Ok(match &plan.sums {
            None => counters,
            Some(sums) => Box::new(SummedCounters::new(counters, sums.clone())),
        })
    }
}

/// Tries `events` on the calling thread of `platform`, with that platform's permissions or others.
///
/// # Errors
/// As for [`PerfBackend::new`].
pub fn backend_on(
    platform: &PlatformRef,
    events: &[Event],
    sharing: Sharing,
    permissions: PerfPermissions,
) -> Result<Box<dyn Backend>> {
    Ok(match platform.perf() {
        // The type is known here, so each call of the driver is direct.
        None => Box::new(PerfBackend::with_sys(Kernel, events, sharing, permissions)?),
        Some(sys) => Box::new(PerfBackend::with_sys(sys, events, sharing, permissions)?),
    })
}
