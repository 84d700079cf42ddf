//! NetBurst: both logical processors share 18 counters, 18 CCCRs and 45 ESCRs.
//!
//! Source: SDM Vol. 3, "Performance monitoring (processors based on Intel NetBurst
//! microarchitecture)", with its part "Performance monitoring and Intel Hyper-Threading
//! Technology". Logical processor *n* is context *n*, and an ESCR's T*n* bits select it.

mod count;
mod tagging;
pub(super) mod wiring;

use pacman_events::CpuModel;

use super::access::Fault;
use super::counter::Counter;

pub(super) const WIDTH: u8 = 40;

#[derive(Clone, Debug)]
pub(super) struct NetBurst {
    contexts: usize,
    generation: Generation,
    counter: [Counter; COUNTERS],
    /// The value that was last written to each counter; `None` once the counter counts.
    pending: [Option<u64>; COUNTERS],
    cccr: [u64; COUNTERS],
    escr: [u64; (ESCR_END - ESCR) as usize],
    pebs_enable: u64,
    pebs_matrix: u64,
}

/// The differences between the models of family 15.
#[derive(Clone, Copy, Debug)]
struct Generation {
    /// Models 0 to 2 have `MSR_IQ_ESCR0` and `MSR_IQ_ESCR1`.
    iq_escrs: bool,
    /// Models from 2 on have CCCR bit 11.
    extended_cascade: bool,
    /// From CPUID signature 0F27h on, `FSB_ESCR1` selects `IOQ_allocation`.
    late_ioq: bool,
}

/// The meaning of a register number.
#[derive(Clone, Copy)]
enum Register {
    Cccr(usize),
    Counter(usize),
    Escr(usize),
    PebsEnable,
    PebsMatrix,
}

impl NetBurst {
    pub(super) fn new(model: CpuModel, contexts: u8) -> NetBurst {
        let name = model.name();
        NetBurst {
            contexts: usize::from(contexts),
            generation: Generation {
                iq_escrs: !matches!(name, "p4-prescott" | "p4-cedarmill"),
                extended_cascade: name != "p4-willamette",
                late_ioq: !matches!(name, "p4-willamette" | "p4-northwood-early"),
            },
            counter: [Counter::default(); COUNTERS],
            pending: [None; COUNTERS],
            cccr: [0; COUNTERS],
            escr: [0; (ESCR_END - ESCR) as usize],
            pebs_enable: 0,
            pebs_matrix: 0,
        }
    }

    pub(super) fn after_reset(&self) -> NetBurst {
        NetBurst {
            counter: [Counter::default(); COUNTERS],
            pending: [None; COUNTERS],
            cccr: [0; COUNTERS],
            escr: [0; (ESCR_END - ESCR) as usize],
            pebs_enable: 0,
            pebs_matrix: 0,
            ..*self
        }
    }

    pub(super) fn numbers(&self) -> Vec<u32> {
        let possible = (COUNTER..COUNTER + COUNTERS as u32)
            .chain(CCCR..CCCR + COUNTERS as u32)
            .chain(ESCR..ESCR_END)
            .chain([PEBS_ENABLE, PEBS_MATRIX_VERT]);
        possible.filter(|msr| self.register(*msr).is_ok()).collect()
    }

    pub(super) fn read(&self, msr: u32) -> Result<u64, Fault> {
        Ok(match self.register(msr)? {
            Register::Cccr(n) => self.cccr[n],
            Register::Counter(n) => self.counter[n].value(),
            Register::Escr(n) => self.escr[n],
            Register::PebsEnable => self.pebs_enable,
            Register::PebsMatrix => self.pebs_matrix,
        })
    }

    pub(super) fn write(&mut self, msr: u32, value: u64) -> Result<(), Fault> {
        let register = self.register(msr)?;
        if value & !self.legal(register) != 0 {
            return Err(Fault::GeneralProtection);
        }
        match register {
            Register::Cccr(n) => self.cccr[n] = value,
            Register::Counter(n) => self.write_counter(n, value),
            Register::Escr(n) => self.escr[n] = value,
            Register::PebsEnable => self.pebs_enable = value,
            Register::PebsMatrix => self.pebs_matrix = value,
        }
        Ok(())
    }

    pub(super) fn rdpmc(&self, index: u32) -> Result<u64, Fault> {
        let counter =
            self.counter.get((index & !FAST) as usize).ok_or(Fault::GeneralProtection)?.value();
        Ok(if index & FAST == 0 { counter } else { counter & 0xffff_ffff })
    }

    /// Erratum N15: a write may fail to reach the upper eight bits. In the model, the first write
    /// never reaches them. A second write of the same value always does, and drivers rely on that
    /// (Linux, arch/x86/events/intel/p4.c).
    fn write_counter(&mut self, n: usize, value: u64) {
        let whole = if self.pending[n] == Some(value) {
            value
        } else {
            self.counter[n].value() & !LOWER | value & LOWER
        };
        self.counter[n].set(whole, WIDTH);
        self.pending[n] = Some(value);
    }

    fn register(&self, msr: u32) -> Result<Register, Fault> {
        let offset = |first: u32| (msr - first) as usize;
        let counters = COUNTERS as u32;
        Ok(match msr {
            _ if (COUNTER..COUNTER + counters).contains(&msr) => Register::Counter(offset(COUNTER)),
            _ if (CCCR..CCCR + counters).contains(&msr) => Register::Cccr(offset(CCCR)),
            PEBS_ENABLE => Register::PebsEnable,
            PEBS_MATRIX_VERT => Register::PebsMatrix,
            _ if wiring::is_escr(msr, self.generation.iq_escrs) => Register::Escr(offset(ESCR)),
            _ => return Err(Fault::GeneralProtection),
        })
    }

    /// The bits of a register that are not reserved.
    fn legal(&self, register: Register) -> u64 {
        let siblings = self.contexts > 1;
        match register {
            // Writes take 40 bits and ignore higher bits.
            Register::Counter(_) => u64::MAX,
            Register::Escr(_) => ESCR_BITS | if siblings { T1_BITS } else { 0 },
            Register::Cccr(n) => {
                let extended = self.generation.extended_cascade && EXT_CASCADERS.contains(&n);
                CCCR_BITS
                    | if extended { EXT_CASCADE } else { 0 }
                    | if siblings { OVF_PMI_T1 } else { 0 }
            }
            Register::PebsEnable => PEBS_BITS,
            Register::PebsMatrix => MATRIX_BITS,
        }
    }
}

const COUNTERS: usize = 18;
const COUNTER: u32 = 0x300;
const CCCR: u32 = 0x360;
const ESCR: u32 = 0x3a0;
const ESCR_END: u32 = 0x3e2;
const PEBS_ENABLE: u32 = 0x3f1;
const PEBS_MATRIX_VERT: u32 = 0x3f2;
/// The index bit for RDPMC's fast read of 32 bits.
const FAST: u32 = 1 << 31;
const LOWER: u64 = 0xffff_ffff;

/// T0_OS and T0_USR; TAG_ENABLE and TAG_VALUE; event mask; event select.
const ESCR_BITS: u64 = 0x7fff_fffc;
/// T1_OS and T1_USR, which are reserved without a sibling.
const T1_BITS: u64 = 3;

const ENABLE: u64 = 1 << 12;
const FORCE_OVF: u64 = 1 << 25;
const OVF: u64 = 1 << 31;
const EXT_CASCADE: u64 = 1 << 11;
const OVF_PMI_T1: u64 = 1 << 27;
/// Enable, select, active thread, filter, forced overflow, interrupt, cascade, overflow.
const CCCR_BITS: u64 = 0xc7ff_f000;
/// The CCCRs with an extended cascade bit: those of IQ_COUNTER 0, 3, 4 and 5.
const EXT_CASCADERS: [usize; 4] = [12, 15, 16, 17];

/// Replay bits, branch tags, uop tag, and PEBS of either logical processor. The SDM's metrics use
/// the branch tags, although its register table reserves them.
const PEBS_BITS: u64 = 7 << 24 | 3 << 15 | MATRIX_BITS;
const MATRIX_BITS: u64 = 0x1fff;
