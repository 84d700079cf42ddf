//! A register program as data, and its parts.

use crate::Encoding;
use crate::allocate::{Counter, Placement};
use crate::encode::Rings;

/// The register accesses that start the counters of one hardware context.
#[derive(Clone, Debug)]
pub struct RegisterProgram {
    /// Patterns that must be absent before the first write; each shows another user's counter.
    pub guards: Vec<RegisterGuard>,
    /// Patterns that must be present before the first write: counters that a sibling's program
    /// keeps enabled.
    pub relies: Vec<RegisterGuard>,
    /// Registers whose absence changes the program; see [`fitted`](RegisterProgram::fitted).
    pub(super) probes: Vec<RegisterProbe>,
    /// The writes, in order; the first one of each register says how the register is shared.
    pub writes: Vec<RegisterWrite>,
    /// The counter of each event.
    pub slots: Vec<CounterSlot>,
    /// The bits of a counter.
    pub width: u8,
    /// Bits of a control register that the hardware itself sets while it counts.
    pub sticky: u64,
    /// Whether the registers belong to the core, so that all its contexts write the same ones.
    pub per_core: bool,
    /// The names of the events, for messages.
    pub names: String,
}

/// A pattern in a control register that means "this counter counts".
#[derive(Clone, Debug)]
pub struct RegisterGuard {
    /// The control register.
    pub msr: u32,
    /// The bits of the register that make the pattern.
    pub mask: u64,
    /// Their values.
    pub pattern: u64,
    /// The counter that the register controls.
    pub counter: Counter,
    /// The event that needs the counter.
    pub event: String,
    /// The sign in the register that the counter counts cycles, as the kernel's NMI watchdog does.
    pub cycles: CycleCounting,
}

/// The sign in the register of a [`RegisterGuard`] that its counter counts cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleCounting {
    /// The counter's number is the sign: true if Linux counts cycles on it.
    Counter(bool),
    /// The register's low 16 bits hold this selector.
    Select(u64),
}

/// One register write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterWrite {
    /// The register.
    pub msr: u32,
    /// The value of the bits that the program owns.
    pub value: u64,
    /// The other users that the register may have while the events count.
    pub sharing: RegisterSharing,
}

/// The users of a register while the events count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterSharing {
    /// The program alone.
    Sole,
    /// Every program of the core that writes the same value.
    Alike,
    /// The program has these bits, others have the rest.
    Bits(u64),
}

/// A register that only some processors of a family have.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterProbe {
    /// The register to read.
    pub msr: u32,
    /// The bits that must be set in it; 0 if its presence is enough.
    pub bits: u64,
    /// The change of the program on a processor that fails the probe.
    pub otherwise: WhenAbsent,
}

/// The change that a failed [`RegisterProbe`] makes.
#[derive(Clone, Copy, Debug)]
pub(super) enum WhenAbsent {
    /// Omit the writes to this register.
    Skip(u32),
    /// Access the counters by other register numbers.
    Renumber {
        /// The first number in the program.
        from: u32,
        /// The first number on such a processor.
        to: u32,
    },
}

/// The counter of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSlot {
    /// The event's place in a reading.
    pub place: usize,
    /// The counter's number for RDPMC.
    pub index: u32,
    /// The counter's register.
    pub msr: u32,
}

/// Bits of a register that stay as they are while the events count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterInvariant {
    /// The register.
    pub msr: u32,
    /// The bits.
    pub mask: u64,
    /// Their values.
    pub value: u64,
}

/// The control register of an event on Intel's or AMD's processors.
pub(super) struct Control {
    pub(super) msr: u32,
    pub(super) value: u64,
    pub(super) sharing: RegisterSharing,
}

/// A placement with the encoding of its event.
pub(super) struct Planned<'a> {
    pub(super) placement: &'a Placement,
    pub(super) encoding: &'a Encoding,
}

impl RegisterProgram {
    /// Fits the program to a processor. `has` reports whether the processor has a register
    /// with the given bits set.
    pub fn fitted<E>(
        &self,
        mut has: impl FnMut(u32, u64) -> Result<bool, E>,
    ) -> Result<RegisterProgram, E> {
        let mut program = self.clone();
        for probe in &self.probes {
            if has(probe.msr, probe.bits)? {
                continue;
            }
            match probe.otherwise {
                WhenAbsent::Skip(msr) => program.writes.retain(|write| write.msr != msr),
                WhenAbsent::Renumber { from, to } => {
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

    /// The contents of the control registers after the last write. Counters and registers that
    /// the processor may lack are left out.
    pub fn invariants(&self) -> Vec<RegisterInvariant> {
        let mut standing: Vec<RegisterInvariant> = Vec::new();
        let doubtful = |write: &&RegisterWrite| {
            self.probes
                .iter()
                .any(|probe| matches!(probe.otherwise, WhenAbsent::Skip(msr) if msr == write.msr))
        };
        for write in self.writes.iter().filter(|write| !doubtful(write)) {
            let (mask, value) = match write.sharing {
                RegisterSharing::Bits(mask) => (mask, write.value),
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
        // Only counters end as 0: a selector or an enable has bits set.
        standing.retain(|known| known.value != 0);
        standing
    }

    /// Appends a write, unless the same register gets the same value already.
    pub(super) fn once(&mut self, msr: u32, value: u64, sharing: RegisterSharing) {
        let write = RegisterWrite { msr, value, sharing };
        if !self.writes.contains(&write) {
            self.writes.push(write);
        }
    }

    pub(super) fn push(&mut self, msr: u32, value: u64, sharing: RegisterSharing) {
        self.writes.push(RegisterWrite { msr, value, sharing });
    }
}

/// The selector of a placement on a general counter.
pub(super) fn selector(planned: &Planned<'_>, rings: Rings) -> u64 {
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

pub(super) fn bit(bit: u64, set: bool) -> u64 {
    if set { bit } else { 0 }
}

/// `IA32_PERFEVTSELx` and `PERF_CTLx` have these bits in common.
const USR: u64 = 1 << 16;
const OS: u64 = 1 << 17;
pub(super) const ENABLE: u64 = 1 << 22;

/// More than any context has.
pub(super) const COUNTERS: u32 = 32;
