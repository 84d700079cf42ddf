//! Arm, POWER and IBM Z: one code selects the event.
//!
//! Arm: bits 15:0 of `PMEVTYPER<n>_EL0` (Arm ARM, "Performance Monitors"). Any event counter counts any
//! event, and `PMCCNTR_EL0` counts event 0x11. POWER: the raw code of Linux has the counter in bits
//! 19:16, 0 for any of PMC1 to PMC4; PMC5 and PMC6 count instructions and cycles (POWER9 PMU User's
//! Guide). IBM Z: each counter of the CPU-measurement facility counts one event, whose number it has.

use super::{BaseName, CanonicalName, Encoding, Kind, Limits, Modifiers, PerfAttr, Rings, Scope};
use crate::db::{self, Event};
use crate::resolve_error::ResolveError;
use crate::{CounterSet, CpuModel, Family};

/// `PERF_TYPE_RAW`.
const TYPE_RAW: u32 = 4;

/// The event of Arm's cycle counter.
const CPU_CYCLES: u64 = 0x11;
/// The event that makes two of Arm's counters one.
const CHAIN: u64 = 0x1e;

/// Whether the events of a model are codes.
pub(crate) fn selects(cpu: CpuModel) -> bool {
    matches!(cpu.family(), Family::Arm | Family::Power | Family::S390x)
}

pub(crate) fn encode(
    cpu: CpuModel,
    event: &Event,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let mut encoding = raw(cpu, event.name().into(), event.select(), modifiers)?;
    if event.flags().core_wide() {
        encoding.limits = Limits { counts: Scope::Core, ..Limits::default() };
    }
    Ok(encoding)
}

/// A code, whether a table names it or not.
pub(crate) fn raw(
    cpu: CpuModel,
    name: BaseName,
    code: u64,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let name = CanonicalName::new(name, modifiers);
    let impossible = |reason: &str| ResolveError::impossible(&name.to_string(), cpu, reason);
    let plain =
        Modifiers { user: modifiers.user, kernel: modifiers.kernel, ..Modifiers::default() };
    if modifiers != plain {
        return Err(impossible("its counters have no filters, only u and k"));
    }
    let (general, fixed) = counters(cpu, code).map_err(impossible)?;
    let mut rings = Rings { user: modifiers.user, kernel: modifiers.kernel };
    let mut code = code;
    if cpu.family() == Family::S390x {
        code = in_modes(cpu, code, rings).map_err(impossible)?;
        // Linux refuses to exclude a mode from a raw counter.
        rings = Rings { user: true, kernel: true };
    }
    let mut encoding = Encoding::new(cpu, name, Kind::Code);
    encoding.evtsel = code;
    encoding.rings = rings;
    encoding.counters = general;
    encoding.counters_smt_off = general;
    encoding.fixed = fixed;
    encoding.perf = Some(PerfAttr {
        kind: TYPE_RAW,
        pmu: cpu.perf_pmu(),
        config: code,
        config1: 0,
        config2: 0,
    });
    Ok(encoding)
}

/// The counter of IBM Z that counts the event in these modes: a counter counts both modes, but those
/// of the basic set have a twin for user mode, 32 numbers on.
fn in_modes(cpu: CpuModel, code: u64, rings: Rings) -> Result<u64, &'static str> {
    let twin = code.saturating_add(PROBLEM_STATE);
    match rings {
        Rings { user: true, kernel: false } if code < PROBLEM_STATE => db::events(cpu)
            .any(|event| event.select() == twin)
            .then_some(twin)
            .ok_or("no counter of the problem-state set counts it, so it counts both modes (uk)"),
        // The problem state itself.
        Rings { user: true, kernel: false } if code < 2 * PROBLEM_STATE => Ok(code),
        rings if rings.user == rings.kernel => Ok(code),
        _ => Err("a counter of this set counts both modes (uk)"),
    }
}

/// From a counter of the basic set to the one that counts the same in user mode.
const PROBLEM_STATE: u64 = 32;

/// The general counters that can count a code, and the fixed one; the reason if there are none.
fn counters(cpu: CpuModel, code: u64) -> Result<(CounterSet, Option<u8>), &'static str> {
    let facts = cpu.facts();
    match facts.family {
        Family::Arm if code > 0xffff => Err("an event of PMEVTYPER has 16 bits"),
        Family::Arm if code == CHAIN => {
            Err("CHAIN makes two counters one, which Linux does itself where it needs 64 bits")
        }
        Family::Arm if code == CPU_CYCLES => Ok((facts.general, facts.fixed.lowest())),
        Family::Arm => Ok((facts.general, None)),
        Family::Power => match (code >> 16 & 0xf) as u8 {
            0 => Ok((facts.general, None)),
            pmc if facts.general.contains(pmc) => Ok((CounterSet::only(pmc), None)),
            pmc if facts.fixed.contains(pmc) => Ok((CounterSet::EMPTY, Some(pmc))),
            _ => Err("bits 19:16 name a PMC above 6"),
        },
        _ => Ok((CounterSet::EMPTY, None)),
    }
}
