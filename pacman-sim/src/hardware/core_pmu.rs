//! The PMU of a core of any family.

use pacman_events::{CpuModel, Family};

use super::access::Fault;
use super::activity::Activity;
use super::amd::{self, Amd};
use super::intel::Intel;
use super::netburst::{self, NetBurst};

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

/// A register that differs from its reset value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Changed {
    /// The context that reads it; 0 for a register that contexts share.
    pub context: u8,
    /// Its number.
    pub msr: u32,
    /// Its value.
    pub value: u64,
}

impl CorePmu {
    /// A core after reset, with `contexts` hardware contexts enabled.
    ///
    /// A single context of a core with several means that SMT was off at reset. On twelve Intel
    /// families such a core has eight general counters instead of four.
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

    /// Sets the number of TSC ticks for each tick of the slow clock. Events such as
    /// [`Clock::Bus`](super::Clock::Bus) count that clock of 100 MHz, 133 MHz, or 24 or 25 MHz with
    /// a crystal. Only Intel's architectural PMU has it.
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
    /// `activity[n]` is what context `n` did. All of them describe the same stretch of time, so
    /// their TSC ticks should be equal.
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

    /// The registers that differ from their reset values, by context and number.
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
