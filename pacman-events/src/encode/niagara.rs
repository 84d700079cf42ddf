//! UltraSPARC T1 to T4: each strand has a PCR and its performance instruction counters.
//!
//! T1: PIC0 selects one of eight events, PIC1 counts instructions; UT and ST choose the
//! rings of both. T2 to T3: two PICs, each with SL (4 bits) and MASK (8 bits). T4: four
//! PICs, each with a PCR of its own (SL 15:11, MASK 10:5). Layouts: UltraSPARC T1 and
//! T2 supplements to the UltraSPARC Architecture 2005, and the SPARC T4 supplement.

use super::arch::bit;
use super::{CanonicalName, Encoding, Kind, Limits, Modifiers, PerfAttr, Rings, Scope};
use crate::CpuModel;
use crate::db::Event;
use crate::resolve_error::ResolveError;

/// `PERF_TYPE_RAW`.
const TYPE_RAW: u32 = 4;

pub(crate) fn encode(
    cpu: CpuModel,
    event: &Event,
    mask: u8,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let filters = modifiers.edge
        || modifiers.invert
        || modifiers.cmask.is_some()
        || modifiers.any_thread
        || modifiers.threshold.is_some()
        || modifiers.complement;
    let name = CanonicalName::new(event.name(), modifiers);
    if filters {
        let reason = "the PCR has no filters, only u and k";
        return Err(ResolveError::impossible(&name.to_string(), cpu, reason));
    }
    let select = (event.select() >> 8) as u8;
    let mut encoding = Encoding::new(cpu, name, Kind::Niagara);
    encoding.rings = Rings { user: modifiers.user, kernel: modifiers.kernel };
    encoding.counters = event.counters();
    encoding.counters_smt_off = event.counters();
    encoding.evtsel = pcr(cpu, select, mask, encoding.counters.lowest().unwrap_or(0))
        | ring_bits(cpu, encoding.rings);
    if event.flags().core_wide() {
        encoding.limits = Limits { counts: Scope::Core, ..Limits::default() };
    }
    encoding.perf = Some(PerfAttr {
        kind: TYPE_RAW,
        pmu: None,
        config: perf_config(cpu, select, mask, encoding.counters.bits()),
        config1: 0,
        config2: 0,
    });
    Ok(encoding)
}

/// The PCR field that makes performance instruction counter `pic` count the event.
fn pcr(cpu: CpuModel, select: u8, mask: u8, pic: u8) -> u64 {
    let (select, mask) = (u64::from(select), u64::from(mask));
    match (cpu.name(), pic) {
        ("niagara1", 0) => select << 4,
        // PIC1 of the T1 counts instructions for any value of the PCR.
        ("niagara1", _) => 0,
        ("niagara4", _) => select << 11 | mask << 5,
        (_, 0) => select << 14 | mask << 6,
        _ => select << 27 | mask << 19,
    }
}

fn ring_bits(cpu: CpuModel, rings: Rings) -> u64 {
    // UT and ST: bits 2 and 1, but 2 and 3 on the T4.
    let (user, system) = if cpu.name() == "niagara4" { (1 << 2, 1 << 3) } else { (1 << 2, 1 << 1) };
    bit(user, rings.user) | bit(system, rings.kernel)
}

/// Linux (arch/sparc): the PCR's event field in bits 31:16. Bits 1:0 select the PICs that may count: bit
/// 0 the upper one (PIC1), bit 1 the lower one (PIC0). The T4's driver ignores them.
fn perf_config(cpu: CpuModel, select: u8, mask: u8, pics: u64) -> u64 {
    let event = match cpu.name() {
        "niagara1" => u64::from(select),
        "niagara4" => u64::from(select) << 6 | u64::from(mask),
        _ => u64::from(select) << 8 | u64::from(mask),
    };
    let allowed = if cpu.name() == "niagara4" { 0 } else { (pics & 1) << 1 | pics >> 1 & 1 };
    event << 16 | allowed
}

impl Encoding {
    /// The PCR value that makes performance instruction counter `pic` count the event;
    /// `None` for other kinds and for a PIC that cannot count it.
    ///
    /// Two events of one PCR (T1 to T3) are ORed together.
    pub fn pcr(&self, pic: u8) -> Option<u64> {
        if self.kind != Kind::Niagara || !self.counters.contains(pic) {
            return None;
        }
        let first = self.counters.lowest()?;
        let rings = ring_bits(self.cpu, self.rings);
        let field = self.evtsel & !rings;
        // Between the PICs of one PCR the whole field moves.
        let moved = match (self.cpu.name(), first, pic) {
            ("niagara1" | "niagara4", _, _) => field,
            (_, 0, 1) => field >> 6 << 19,
            _ => field,
        };
        Some(moved | rings)
    }
}
