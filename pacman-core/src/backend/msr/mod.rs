//! Counting by programming the processor's registers directly.
//!
//! [`MsrBackend`] takes the allocator's placement of the events. It writes counters, selectors and
//! shared registers itself, through `/dev/cpu/N/msr`: NetBurst, Intel since Nehalem, AMD. It counts
//! where the kernel's driver cannot: all 18 counters of a Pentium 4, for both of its threads at
//! once. It reads with a single RDPMC.
//!
//! # Whose counts
//! A counter belongs to a *hardware context*, not to a thread: it counts all work of the
//! context, in the rings of the event. That is the bound thread's work while the thread is
//! bound there and runs alone. A thread that shares its context counts the others too. A
//! thread that was moved off its context gets an error when it reads, not a count. A move
//! and return between two reads stay undetected.
//!
//! # Whose registers
//! This module saves every register before it writes it. It restores the registers when the
//! counters are dropped, when a panic unwinds, at `exit(3)`, and on SIGINT and SIGTERM. Its
//! signal handler restores and then does what would have happened without it. So a program's
//! own handler still runs, and finds the registers restored. The last holder of a register
//! that siblings share restores it. A counter that another program has enabled is refused,
//! with the owner's name if it can be known. If another program takes a counter over later,
//! every read through the device detects it. RDPMC detects it when a counter passes a
//! multiple of 2^32.
//!
//! # What it needs
//! Root, or CAP_SYS_RAWIO and the device; the `msr` module; and for RDPMC the setting 2 in
//! `/sys/bus/event_source/devices/cpu/rdpmc` ([`DevMsr::allow_user_rdpmc`]). Otherwise each read is
//! a system call per counter, and one per checked register. If the setting is lowered while
//! counters are open, their readers get SIGSEGV. No perf event may be open on the same context: the
//! kernel's driver stops and starts all counters at once.

mod claims;
mod cpu_map;
mod device;
mod explain;
mod programmed;
mod reader;
mod signal;
#[cfg(test)]
mod tests;
mod undo;
mod undo_log;
mod wide_count;

pub use crate::seam::{Errno, MsrIo};
pub use cpu_map::{CpuLocation, CpuMap};
pub use device::DevMsr;
pub(crate) use programmed::install_atfork;

use pacman_events::allocate::Assignment;
use pacman_events::encode::Rings;
use pacman_events::registers::RegisterProgram;
use pacman_events::{CpuModel, Encoding};

use crate::backend::{Backend, Counters, MAX_EVENTS, Target, too_many};
use pacman_events::{Error, ErrorKind, Result};

use explain::Explain;
use programmed::ProgrammedContext;

/// A plan for the hardware contexts of a core, which can be programmed on any core.
///
/// A thread that opens counters gets those of its current context, so bind it first.
#[derive(Debug)]
pub struct MsrBackend<M: MsrIo + Clone = DevMsr> {
    io: M,
    contexts: CpuMap,
    /// One for each context of a core; `None` for a context without events.
    programs: Vec<Option<RegisterProgram>>,
    rdpmc: bool,
}

impl MsrBackend<DevMsr> {
    /// The plan `core` of `events`, for this machine.
    ///
    /// `core` has an assignment for each context of a core, as
    /// [`Partition::plan`](pacman_events::partition::Partition::plan) and
    /// [`Schedule`](pacman_events::partition::Schedule) make them. `events` has the list of each
    /// planned context, in the same order. Events without rings of their own were planned with
    /// `rings`.
    ///
    /// # Errors
    /// `Unsupported` for another processor than the plan's, for events that no register
    /// counts and for unknown families; `Empty`, `TooManyEvents`, `InvalidInput` for a
    /// list that is not the plan's; `System` if this machine's contexts are unknown.
    pub fn new(core: &[Assignment], events: &[Vec<Encoding>], rings: Rings) -> Result<MsrBackend> {
        MsrBackend::with_io(DevMsr::new(), CpuMap::detect()?, core, events, rings)
    }
}

impl<M: MsrIo + Clone> MsrBackend<M> {
    /// As [`new`](MsrBackend::new), on another machine.
    ///
    /// # Errors
    /// As for [`new`](MsrBackend::new).
    pub fn with_io(
        io: M,
        contexts: CpuMap,
        core: &[Assignment],
        events: &[Vec<Encoding>],
        rings: Rings,
    ) -> Result<MsrBackend<M>> {
        let mut programs = Vec::new();
        for assignment in core {
            let context = usize::from(assignment.context());
            let list = events.get(context).map_or(&[][..], Vec::as_slice);
            let planned = !assignment.placements().is_empty();
            if let Some(beyond) = assignment.placements().iter().find(|p| p.event() >= MAX_EVENTS) {
                return Err(too_many(beyond.event() + 1, ""));
            }
            let program =
                planned.then(|| RegisterProgram::new(assignment, core, list, rings)).transpose()?;
            programs.push(program);
        }
        if programs.iter().all(Option::is_none) {
            return Err(crate::event::empty());
        }
        if let Some(encoding) = events.iter().flatten().next() {
            check_processor(encoding, &contexts)?;
        }
        let rdpmc = io.user_rdpmc();
        Ok(MsrBackend { io, contexts, programs, rdpmc })
    }

    /// Whether reads are RDPMC, not system calls: decided when the backend was made.
    pub fn reads_by_rdpmc(&self) -> bool {
        self.rdpmc
    }
}

impl<M: MsrIo + Clone> Backend for MsrBackend<M> {
    /// Programs the context that the calling thread runs on, or the one named.
    ///
    /// # Errors
    /// - `Conflict` for a counter or register that another user holds
    /// - `Permission` if access to the registers is refused
    /// - `Unsupported` without the `msr` module, for a register that faults, and for another thread
    /// - `PlaceNotAllowed` for a context that is offline, `NoSuchPlace` for one without a plan
    /// - `NotScheduled` for a tag that waits for the sibling
    ///
    /// After an error all registers are as before.
    fn open(&self, target: Target) -> Result<Box<dyn Counters>> {
        let cpu = match target {
            Target::Caller => self.io.cpu(),
            Target::Context(cpu) => cpu,
            Target::Thread(_) | Target::Tree(_) => return Err(not_a_context(target)),
        };
        let site =
            self.contexts.site(cpu).unwrap_or(CpuLocation { cpu, core: cpu, context: u8::MAX });
        let program = self.programs.get(usize::from(site.context)).and_then(Option::as_ref);
        let Some(program) = program else {
            let names: Vec<&str> =
                self.programs.iter().flatten().map(|program| &*program.names).collect();
            let names = names.join(", ");
            return Err(Explain { site, names: &names }.no_plan(site.context));
        };
        let held = ProgrammedContext::take(&self.io, site, program)?;
        Ok(match target {
            Target::Caller => reader::counters(held, program.width, self.rdpmc),
            _ => reader::from_outside(held, program.width),
        })
    }
}

#[cold]
fn not_a_context(target: Target) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "cannot count {target} by registers: they count a hardware context, whoever runs \
             there; use the kernel's counters"
        ),
    )
}

/// Registers of one family mean something else, or nothing, on another.
fn check_processor(encoding: &Encoding, contexts: &CpuMap) -> Result<()> {
    let Some(id) = contexts.processor() else { return Ok(()) };
    let planned = encoding.cpu.facts().family;
    if CpuModel::of_all_cores(id).any(|cpu| cpu.facts().family == planned) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Unsupported,
        format!(
            "cannot program {}: it was planned for {}, and this is {} family {} model {:#x}; plan \
             for this processor",
            encoding.name, encoding.cpu, id.vendor, id.family, id.model
        ),
    ))
}
