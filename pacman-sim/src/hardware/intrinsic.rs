//! Selections that a slice has as its own fields: clocks and retired instructions.

use pacman_events::{CpuModel, resolve};

use super::clock::Clock;
use super::select::Select;
use super::signal::{NetBurstSignal, Signal};

/// The signal of an Intel selection that a slice has as a field. These are the architectural events
/// (SDM Vol. 3, "Pre-defined architectural performance events") and the clocks of the model.
pub(super) fn intrinsic_on_intel(model: CpuModel, select: &Select) -> Option<Signal> {
    if *select != (Select { event: select.event, umask: select.umask, ..Select::default() }) {
        return None;
    }
    let has = |name: &str| resolve(model, &format!("CPU_CLK_UNHALTED.{name}")).is_ok();
    let clock = match (select.event, select.umask) {
        (0xc0, 0x00) => return Some(Signal::Instructions),
        // INST_RETIRED.ANY_P of Nehalem and Westmere.
        (0xc0, 0x01) if ["nhm", "wsm"].iter().any(|it| model.name().starts_with(it)) => {
            return Some(Signal::Instructions);
        }
        (0x3c, 0x00) => Clock::Core,
        (0x3c, 0x01) => Clock::Bus,
        (0x3c, 0x02) if has("ONE_THREAD_ACTIVE") => Clock::BusAlone,
        (0x3c, 0x08) if has("REF_DISTRIBUTED") => Clock::BusShare,
        (0xec, 0x02) if has("DISTRIBUTED") => Clock::CoreShare,
        _ => return None,
    };
    Some(Signal::Clock(clock))
}

/// The signal of an AMD selection that a slice has as a field: retired instructions, or cycles not
/// in halt. The unit mask of both has no meaning.
pub(super) fn intrinsic_on_amd(select: &Select) -> Option<Signal> {
    if *select != (Select { event: select.event, umask: select.umask, ..Select::default() }) {
        return None;
    }
    match select.event {
        0xc0 => Some(Signal::Instructions),
        0x76 => Some(Signal::Clock(Clock::Core)),
        _ => None,
    }
}

/// The filter of a CCCR or of an encoding's bits, normalised. It is 0 unless the comparison is
/// on.
pub(super) fn filter(cccr: u64) -> u32 {
    if cccr & COMPARE == 0 { 0 } else { (cccr & FILTER) as u32 }
}

/// The signal of a NetBurst selection that a slice has as a field.
pub(super) fn intrinsic(signal: &NetBurstSignal) -> Option<Signal> {
    if signal.filter == NON_SLEEP {
        return Some(Signal::Clock(Clock::NonSleep));
    }
    if signal.filter != 0 || signal.mask & 1 == 0 {
        return None;
    }
    match (signal.unit, signal.event) {
        INSTR_RETIRED | INSTR_COMPLETED => Some(Signal::Instructions),
        GLOBAL_POWER_EVENTS => Some(Signal::Clock(Clock::Core)),
        _ => None,
    }
}

/// Unit and event select of the fields of slices, all with mask bit 0: NBOGUSNTAG, NBOGUS
/// and RUNNING.
const INSTR_RETIRED: (u32, u8) = (0x3b8, 0x02);
const INSTR_COMPLETED: (u32, u8) = (0x3b8, 0x07);
const GLOBAL_POWER_EVENTS: (u32, u8) = (0x3a2, 0x13);

/// Bits of a CCCR.
const COMPARE: u64 = 1 << 18;
const COMPLEMENT: u64 = 1 << 19;
const THRESHOLD: u64 = 0xf << 20;
const EDGE: u64 = 1 << 24;
const FILTER: u64 = COMPARE | COMPLEMENT | THRESHOLD | EDGE;
/// "At most 15" is true in every clock.
pub(super) const NON_SLEEP: u32 = (COMPARE | COMPLEMENT | THRESHOLD) as u32;
