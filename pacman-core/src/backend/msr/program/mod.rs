//! What a hardware context's registers must hold while a planned set of events counts,
//! and in which order they are written.
//!
//! The three families differ in register numbers and in the order of writes, and in
//! nothing else: a [`Program`] is that difference as data.

mod amd;
mod intel;
mod netburst;

use pacman_events::allocate::{Assignment, Counter, Placement};
use pacman_events::encode::Rings;
use pacman_events::{CpuModel, Encoding, Family};

use crate::backend::MAX_EVENTS;
use crate::error::{Error, ErrorKind, Result};

/// Everything that one hardware context is told.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// What must not be so beforehand, or somebody else counts.
    pub(super) guards: Vec<Guard>,
    /// What must be so beforehand: counters that a sibling keeps enabled for us.
    pub(super) relies: Vec<Guard>,
    /// Registers whose absence changes the program.
    pub(super) probes: Vec<Probe>,
    /// The writes, in order; the first one of each register says how it is kept account of.
    pub(crate) writes: Vec<Write>,
    /// Where each event is read.
    pub(crate) slots: Vec<CounterSlot>,
    /// The bits of a counter.
    pub(super) width: u8,
    /// Bits that the hardware sets in a control register while it counts.
    pub(super) sticky: u64,
    /// The registers are the core's: all contexts of it write the same ones.
    pub(super) per_core: bool,
    /// The events, for messages.
    pub(super) names: String,
}

/// A pattern in a control register that means "counting".
#[derive(Clone, Debug)]
pub(super) struct Guard {
    pub(super) msr: u32,
    pub(super) mask: u64,
    pub(super) pattern: u64,
    /// The counter it is about.
    pub(super) counter: Counter,
    /// The event that wants it.
    pub(super) event: String,
    /// Cycles are what the kernel's NMI watchdog counts, and this says where.
    pub(super) cycles: Cycles,
}

/// How the register of a [`Guard`] shows that cycles are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cycles {
    /// It is a counter on which Linux puts cycles, or not.
    Counter(bool),
    /// The register's low 16 bits hold this selector.
    Select(u64),
}

/// One register write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) msr: u32,
    pub(crate) value: u64,
    pub(crate) hold: Sharing,
}

/// How a register is held while the events count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Ours alone.
    Sole,
    /// With whoever wants the same value, on any context of the core.
    Alike,
    /// These bits of it are ours, the others somebody else's.
    Bits(u64),
}

/// A register that only some processors of a family have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// The register that tells, and the bits that must be set in it.
    pub(super) msr: u32,
    pub(super) bits: u64,
    pub(super) then: Then,
}

/// What follows from a [`Probe`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    /// Without it, leave out the writes to this register.
    Skip(u32),
    /// Without it, the counters numbered from the one are reached from the other.
    Renumber { from: u32, to: u32 },
}

/// Where an event is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CounterSlot {
    /// The event's place in a reading.
    pub(crate) place: usize,
    /// What RDPMC is asked for.
    pub(crate) index: u32,
    /// The counter's register.
    pub(crate) msr: u32,
}

/// What selects an event of Intel's or AMD's, beside its counter.
struct Control {
    msr: u32,
    value: u64,
    hold: Sharing,
}

/// Bits of a register that stay as they are for as long as the counts are ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterInvariant {
    pub(super) msr: u32,
    pub(super) mask: u64,
    pub(super) value: u64,
}

/// A placement with the encoding of its event.
pub(super) struct Planned<'a> {
    pub(super) placement: &'a Placement,
    pub(super) encoding: &'a Encoding,
}

impl Program {
    /// The program of one context's `assignment` of `events`.
    ///
    /// `core` holds the assignments of all contexts of the core, this one included.
    pub(crate) fn new(
        assignment: &Assignment,
        core: &[Assignment],
        events: &[Encoding],
        rings: Rings,
    ) -> Result<Program> {
        let mut planned = Vec::new();
        for placement in assignment.placements() {
            let encoding = events.get(placement.event()).ok_or_else(|| foreign(placement))?;
            if placement.counter().is_none() && placement.registers().next().is_none() {
                return Err(no_register(placement.name()));
            }
            if placement.event() >= MAX_EVENTS {
                return Err(too_many(events.len()));
            }
            planned.push(Planned { placement, encoding });
        }
        let Some(first) = planned.first() else { return Err(crate::event::empty()) };
        let cpu = first.encoding.cpu;
        let names: Vec<&str> = planned.iter().map(|p| p.placement.name()).collect();
        let empty = Program {
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

    /// The program for a processor whose registers `has` tells: each probe is asked with
    /// the register and the bits that matter.
    pub(crate) fn fitted(&self, mut has: impl FnMut(u32, u64) -> Result<bool>) -> Result<Program> {
        let mut program = self.clone();
        for probe in &self.probes {
            if has(probe.msr, probe.bits)? {
                continue;
            }
            match probe.then {
                Then::Skip(msr) => program.writes.retain(|write| write.msr != msr),
                Then::Renumber { from, to } => {
                    let counters = from..from + COUNTERS;
                    let numbers = program.slots.iter_mut().map(|slot| &mut slot.msr);
                    for msr in numbers.chain(program.writes.iter_mut().map(|write| &mut write.msr))
                    {
                        if counters.contains(msr) {
                            *msr = *msr - from + to;
                        }
                    }
                }
            }
        }
        Ok(program)
    }

    /// What the control registers hold when all is written. Counters are not among them,
    /// nor a register that the processor may not have.
    pub(super) fn standing(&self) -> Vec<RegisterInvariant> {
        let mut standing: Vec<RegisterInvariant> = Vec::new();
        let doubtful = |write: &&Write| {
            self.probes
                .iter()
                .any(|probe| matches!(probe.then, Then::Skip(msr) if msr == write.msr))
        };
        for write in self.writes.iter().filter(|write| !doubtful(write)) {
            let (mask, value) = match write.hold {
                Sharing::Bits(mask) => (mask, write.value),
                _ => (!self.sticky, write.value),
            };
            match standing.iter_mut().find(|known| known.msr == write.msr) {
                Some(known) => {
                    known.value = known.value & !mask | value & mask;
                    known.mask |= mask;
                }
                None => standing.push(RegisterInvariant { msr: write.msr, mask, value }),
            }
        }
        // A counter is written with 0, and nothing that selects or enables ends as 0.
        standing.retain(|known| known.value != 0);
        standing
    }

    /// Appends a write, unless the same register gets the same value already.
    fn once(&mut self, msr: u32, value: u64, hold: Sharing) {
        let write = Write { msr, value, hold };
        if !self.writes.contains(&write) {
            self.writes.push(write);
        }
    }

    fn push(&mut self, msr: u32, value: u64, hold: Sharing) {
        self.writes.push(Write { msr, value, hold });
    }
}

/// The general counter of a placement, with the encoding's selector and rings.
fn selector(planned: &Planned<'_>, rings: Rings) -> u64 {
    let Planned { placement, encoding } = planned;
    let mut select = encoding.evtsel;
    // Twins of an extra register (OFFCORE_RSP_0 and _1) each have a selector.
    if let Some(extra) = &encoding.extra {
        let chosen = extra
            .choices()
            .iter()
            .find(|choice| placement.registers().any(|(msr, _)| msr == choice.msr));
        if let Some(choice) = chosen {
            select = select & !0xffff | u64::from(choice.select);
        }
    }
    let rings = if encoding.rings == Rings::default() { rings } else { encoding.rings };
    select & !(USR | OS) | bit(USR, rings.user) | bit(OS, rings.kernel) | ENABLE
}

fn bit(bit: u64, set: bool) -> u64 {
    if set { bit } else { 0 }
}

/// `IA32_PERFEVTSELx` and `PERF_CTLx` agree on these.
const USR: u64 = 1 << 16;
const OS: u64 = 1 << 17;
const ENABLE: u64 = 1 << 22;

/// More than any context has.
const COUNTERS: u32 = 32;

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
fn too_many(events: usize) -> Error {
    Error::new(
        ErrorKind::TooManyEvents,
        format!(
            "cannot count {events} events at once: {MAX_EVENTS} is the most; split them over \
             several sessions or runs"
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
