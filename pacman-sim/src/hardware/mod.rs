//! The performance-monitoring registers of one core, as a model.
//!
//! A [`CorePmu`] holds the registers of all hardware contexts of a core and counts what
//! they are programmed for while [time passes](CorePmu::pass). It knows no operating
//! system, takes no lock and reads no clock: the same calls give the same counts. What
//! is programmed wrongly counts nothing, or something else, and a register write that
//! the processor would refuse is a [`Fault`].
//!
//! ```
//! use pacman_sim::hardware::{Activity, CorePmu, Ring, Slice};
//! use pacman_events::CpuModel;
//!
//! let mut core = CorePmu::new(CpuModel::named("skl").unwrap(), 2).unwrap();
//! core.write(0, 0x38d, 0x2)?; // fixed counter 0, instructions, in user mode
//! core.write(0, 0x38f, 1 << 32)?;
//! let slice = Slice { instructions: 700, ..Slice::of(Ring::User, 1000) };
//! core.pass(&[Activity::Active(slice), Activity::Halted { reference: 1000 }]);
//! assert_eq!(core.rdpmc(0, 1 << 30)?, 700);
//! assert_eq!(core.rdpmc(1, 1 << 30)?, 0);
//! # Ok::<(), pacman_sim::hardware::Fault>(())
//! ```
//!
//! # How a counter hears an occurrence
//! Everything that happens has the form of the selection that sees it, a [`Signal`]. A
//! counter hears a signal if both have the same event and the same filter (counter mask,
//! inversion, edge; on NetBurst threshold, complement, edge), and share a bit of the unit
//! mask or have the same one; that is so too where a unit mask is a code and not bits,
//! which no register tells. Filters are not computed: an occurrence of "three or more
//! uops in a cycle" is a signal of its own. An event that only some counters can count is
//! heard by those alone, as the event tables have it.
//!
//! # What is left out
//! Interrupts, PEBS and LBR, transactions (the selector bits of TSX fault, as where it is
//! disabled), topdown metrics (`PERF_METRICS`), cascaded NetBurst counters (the bits can
//! be written and start nothing), and AMD's counters outside the core.

mod activity;
mod amd;
mod clock;
mod counter;
mod intel;
mod netburst;
mod rules;
mod select;
mod signal;
#[cfg(test)]
mod tests;

pub use activity::{Activity, Ring, Slice};
pub use clock::Clock;
pub use select::Select;
pub use signal::{NetBurstSignal, Signal, Upstream};

use std::fmt;

use pacman_events::{CpuModel, Family};

use amd::Amd;
use intel::Intel;
use netburst::NetBurst;

/// The PMU of one core: the registers of its hardware contexts.
///
/// A clone is another core of the same model, and cheaper than a new one.
#[derive(Clone, Debug)]
pub struct CorePmu {
    contexts: u8,
    registers: Registers,
}

#[derive(Clone, Debug)]
enum Registers {
    Amd(Amd),
    Intel(Box<Intel>),
    NetBurst(Box<NetBurst>),
}

/// Why a register access did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// `#GP(0)`: no such register, one that cannot be written, or a reserved bit.
    GeneralProtection,
}

/// A register that does not hold what it holds after reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Changed {
    /// The context that reads it; 0 for a register that contexts share.
    pub context: u8,
    /// Its number.
    pub msr: u32,
    /// What it holds.
    pub value: u64,
}

impl CorePmu {
    /// A core after reset, with `contexts` hardware contexts enabled.
    ///
    /// One context of a core that has several is a core whose SMT was off at reset: on
    /// twelve Intel families it has eight general counters instead of four.
    ///
    /// `None` for families whose registers are not known (Niagara, Knights Corner), and
    /// for more contexts than the core has or none.
    pub fn new(model: CpuModel, contexts: u8) -> Option<CorePmu> {
        let facts = model.facts();
        if contexts == 0 || contexts > facts.smt_ways {
            return None;
        }
        let registers = match facts.family {
            Family::Amd => Registers::Amd(Amd::new(model, contexts)),
            Family::Intel => Registers::Intel(Box::new(Intel::new(model, contexts))),
            Family::NetBurst => Registers::NetBurst(Box::new(NetBurst::new(model, contexts))),
            _ => return None,
        };
        Some(CorePmu { contexts, registers })
    }

    /// Sets how many TSC ticks go by between two ticks of the slow clock that
    /// [`Clock::Bus`] and its kin count: 100 MHz, 133 MHz or the crystal's 24 or 25 MHz
    /// beside the nominal frequency. Only Intel's architectural PMU has it.
    ///
    /// Unless it is set, a nominal frequency of 2.4 GHz is assumed.
    ///
    /// # Panics
    /// If `ticks` is 0.
    #[must_use]
    pub fn with_bus_ratio(mut self, ticks: u64) -> CorePmu {
        assert!(ticks > 0, "a clock does not tick infinitely often");
        if let Registers::Intel(intel) = &mut self.registers {
            intel.set_bus_ratio(ticks);
        }
        self
    }

    /// The core's hardware contexts.
    pub fn contexts(&self) -> u8 {
        self.contexts
    }

    /// The bits of a counter.
    pub fn width(&self) -> u8 {
        match &self.registers {
            Registers::Amd(_) => amd::WIDTH,
            Registers::Intel(intel) => intel.width(),
            Registers::NetBurst(_) => netburst::WIDTH,
        }
    }

    /// RDMSR on a context.
    ///
    /// # Errors
    /// [`Fault::GeneralProtection`] for a register that the core's PMU does not have.
    ///
    /// # Panics
    /// If the core has no such context.
    pub fn read(&self, context: u8, msr: u32) -> Result<u64, Fault> {
        self.registers.read(self.index(context), msr)
    }

    /// WRMSR on a context.
    ///
    /// # Errors
    /// [`Fault::GeneralProtection`] for a register that is not there or read-only, and
    /// for reserved bits, except on AMD, which drops those of a selector.
    ///
    /// # Panics
    /// If the core has no such context.
    pub fn write(&mut self, context: u8, msr: u32, value: u64) -> Result<(), Fault> {
        let context = self.index(context);
        match &mut self.registers {
            Registers::Amd(amd) => amd.write(context, msr, value),
            Registers::Intel(intel) => intel.write(context, msr, value),
            Registers::NetBurst(netburst) => netburst.write(msr, value),
        }
    }

    /// RDPMC on a context. Index bit 30 selects Intel's fixed counters, bit 31 NetBurst's
    /// fast read of the lower 32 bits.
    ///
    /// # Errors
    /// [`Fault::GeneralProtection`] for a counter that is not there.
    ///
    /// # Panics
    /// If the core has no such context.
    pub fn rdpmc(&self, context: u8, index: u32) -> Result<u64, Fault> {
        let context = self.index(context);
        match &self.registers {
            Registers::Amd(amd) => amd.rdpmc(context, index),
            Registers::Intel(intel) => intel.rdpmc(context, index),
            Registers::NetBurst(netburst) => netburst.rdpmc(index),
        }
    }

    /// Lets time pass in which each context's activity is constant.
    ///
    /// `activity[n]` is what context `n` did. All of them tell of the same stretch of
    /// time, so their TSC ticks should agree.
    ///
    /// # Panics
    /// If there is not one activity for each context.
    pub fn pass(&mut self, activity: &[Activity<'_>]) {
        assert_eq!(activity.len(), usize::from(self.contexts), "one activity for each context");
        match &mut self.registers {
            Registers::Amd(amd) => amd.pass(activity),
            Registers::Intel(intel) => intel.pass(activity),
            Registers::NetBurst(netburst) => netburst.pass(activity),
        }
    }

    /// The registers that do not hold what they hold after reset, by context and number.
    pub fn changed(&self) -> Vec<Changed> {
        let fresh = self.registers.after_reset();
        let numbers = self.registers.numbers();
        let mut changed = Vec::new();
        for context in 0..usize::from(self.contexts) {
            for &msr in numbers.iter().filter(|msr| context == 0 || !self.registers.shares(**msr)) {
                match (self.registers.read(context, msr), fresh.read(context, msr)) {
                    (Ok(value), Ok(reset)) if value != reset => {
                        changed.push(Changed { context: context as u8, msr, value });
                    }
                    _ => {}
                }
            }
        }
        changed
    }

    fn index(&self, context: u8) -> usize {
        assert!(context < self.contexts, "the core has no context {context}");
        usize::from(context)
    }
}

impl Registers {
    fn read(&self, context: usize, msr: u32) -> Result<u64, Fault> {
        match self {
            Registers::Amd(amd) => amd.read(context, msr),
            Registers::Intel(intel) => intel.read(context, msr),
            Registers::NetBurst(netburst) => netburst.read(msr),
        }
    }

    /// The same core after reset.
    fn after_reset(&self) -> Registers {
        match self {
            Registers::Amd(amd) => Registers::Amd(amd.after_reset()),
            Registers::Intel(intel) => Registers::Intel(Box::new(intel.after_reset())),
            Registers::NetBurst(netburst) => Registers::NetBurst(Box::new(netburst.after_reset())),
        }
    }

    /// One number of each register, aliases left out.
    fn numbers(&self) -> Vec<u32> {
        match self {
            Registers::Amd(amd) => amd.numbers(),
            Registers::Intel(intel) => intel.numbers(),
            Registers::NetBurst(netburst) => netburst.numbers(),
        }
    }

    /// Whether contexts share the register.
    fn shares(&self, msr: u32) -> bool {
        match self {
            Registers::Amd(_) => false,
            Registers::Intel(intel) => intel.shares(msr),
            Registers::NetBurst(_) => true,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::GeneralProtection => f.write_str("general protection fault"),
        }
    }
}

impl std::error::Error for Fault {}

/// The most contexts that a core of any family here has (Knights Landing).
const MAX_CONTEXTS: usize = 4;
