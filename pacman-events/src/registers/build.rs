//! Builds the register program of one context from an assignment of events.

use super::data::{Planned, RegisterProgram};
use super::{amd, intel, netburst};
use crate::allocate::{Assignment, Placement};
use crate::encode::Rings;
use crate::error::{Error, ErrorKind, Result};
use crate::{CpuModel, Encoding, Family};

impl RegisterProgram {
    /// Makes the program of one context's `assignment` of `events`.
    ///
    /// `core` holds the assignments of all contexts of the core, this one included. `rings`
    /// applies to events without rings of their own.
    ///
    /// # Errors
    /// `Empty` for an empty assignment; `InvalidInput` if `events` are not the planned ones;
    /// `Unsupported` for an event that no register counts, or for an unknown family.
    pub fn new(
        assignment: &Assignment,
        core: &[Assignment],
        events: &[Encoding],
        rings: Rings,
    ) -> Result<RegisterProgram> {
        let mut planned = Vec::new();
        for placement in assignment.placements() {
            let encoding = events.get(placement.event()).ok_or_else(|| foreign(placement))?;
            if placement.counter().is_none() && placement.registers().next().is_none() {
                return Err(no_register(placement.name()));
            }
            planned.push(Planned { placement, encoding });
        }
        let Some(first) = planned.first() else { return Err(empty()) };
        let cpu = first.encoding.cpu;
        let names: Vec<&str> = planned.iter().map(|p| p.placement.name()).collect();
        let empty = RegisterProgram {
            guards: Vec::new(),
            relies: Vec::new(),
            probes: Vec::new(),
            writes: Vec::new(),
            slots: Vec::new(),
            width: cpu.facts().width,
            sticky: 0,
            per_core: cpu.facts().counters_shared,
            names: names.join(", "),
        };
        match cpu.facts().family {
            Family::NetBurst => netburst::program(empty, assignment, core, &planned),
            Family::Intel => intel::program(empty, cpu, &planned, rings),
            Family::Amd => amd::program(empty, cpu, &planned, rings),
            _ => Err(unknown_family(first.placement.name(), cpu)),
        }
    }
}

#[cold]
fn empty() -> Error {
    Error::new(ErrorKind::Empty, "cannot program an empty list of events; name at least one")
}

#[cold]
fn foreign(placement: &Placement) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        format!(
            "cannot program {}: it is event {} of the plan, and the list of encodings is shorter; \
             pass the list that was planned",
            placement.name(),
            placement.event()
        ),
    )
}

#[cold]
fn no_register(name: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "cannot program {name}: the operating system counts it, no register does; count it \
             through the perf backend"
        ),
    )
}

#[cold]
fn unknown_family(name: &str, cpu: CpuModel) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!(
            "cannot program {name} on {cpu} ({}): only the registers of NetBurst, of Intel since \
             Nehalem and of AMD are known; use the perf backend",
            cpu.title()
        ),
    )
}
