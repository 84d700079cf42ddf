//! The backend itself: events that are tried once and opened by each thread.

use std::sync::Arc;

use crate::backend::{Backend, Counters, Target};
use crate::descriptor;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;

use super::accounting::Ledgers;
use super::group::{Ask, Group, ResolveError};
use super::permissions::{PerfPermissions, Reach};
use super::plan::Plan;
use super::prepared::Prepared;
use super::sharing::Sharing;
use super::sys::{Kernel, PerfSys};
use super::{conflict, reader};

/// A set of events, tried on this machine and ready to be opened by threads.
///
/// Holds one group of its own that is never enabled. While the group lives, the kernel keeps its
/// software-event paths patched in. That makes every further open some sixty times cheaper than the
/// first.
#[derive(Debug)]
pub struct PerfBackend<S: PerfSys + Clone = Kernel> {
    sys: S,
    prepared: Arc<Prepared>,
    _held: Option<Group<S>>,
}

impl PerfBackend<Kernel> {
    /// Tries `events` on the calling thread.
    ///
    /// # Errors
    /// `NoEvents`, `TooManyEvents`, `Unsupported` for hardware events where the driver is not
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
        let mut backend = PerfBackend { sys, prepared, _held: None };
        while !backend.prepared.plan.members.is_empty() {
            match backend.open_group(Target::Caller, false) {
                Ok(group) => {
                    backend._held = Some(group);
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

    fn open_group(&self, target: Target, pages: bool) -> Result<Group<S>, ResolveError> {
        let plan = &self.prepared.plan;
        let exclusive = plan.sharing == Sharing::Pinned;
        Group::open(&self.sys, &plan.members, target, exclusive, pages)
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
        if refusal.errno.0 == libc::EINVAL && refusal.member > 0 {
            let alone = Group::open(&self.sys, std::slice::from_ref(member), target, false, false);
            if alone.is_ok() {
                let others: Vec<&str> =
                    members[..refusal.member].iter().map(|m| m.name.as_str()).collect();
                let why = conflict::advice(&members[..=refusal.member], &self.prepared.permissions);
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
        // RDPMC reads counters of the executing thread, so pages of other targets are useless.
        let pages = plan.pages && target == Target::Caller;
        let group = (!plan.members.is_empty())
            .then(|| self.open_group(target, pages).map_err(refused))
            .transpose()?;
        if let Some(group) = &group {
            group.enable().map_err(|errno| refused(ResolveError { member: 0, errno }))?;
        }
        reader::counters(group, accounting, Arc::clone(&self.prepared), target)
    }
}
