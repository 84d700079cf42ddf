//! Events that exist on any processor only as `perf_event_attr`: Linux's software and generic
//! hardware events.
//!
//! Numbers: `include/uapi/linux/perf_event.h`, enums `perf_sw_ids`, `perf_hw_id` and the
//! `perf_hw_cache_*` ones.

use super::{CanonicalName, Encoding, Kind, Modifiers, PerfAttr, Rings};
use crate::CpuModel;
use crate::resolve_error::ResolveError;

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const CACHE: u32 = 3;

/// Name, `attr.type`, `attr.config` and meaning, in perf's order.
pub(crate) static NAMED: &[(&str, u32, u64, &str)] = &[
    ("cpu-cycles", HARDWARE, 0, "cycles, as the kernel's driver picks the event"),
    ("instructions", HARDWARE, 1, "instructions retired"),
    ("cache-references", HARDWARE, 2, "accesses to the last-level cache"),
    ("cache-misses", HARDWARE, 3, "misses of the last-level cache"),
    ("branches", HARDWARE, 4, "branch instructions retired"),
    ("branch-misses", HARDWARE, 5, "mispredicted branches"),
    ("bus-cycles", HARDWARE, 6, "cycles of the bus clock"),
    ("stalled-cycles-frontend", HARDWARE, 7, "cycles stalled for the front end"),
    ("stalled-cycles-backend", HARDWARE, 8, "cycles stalled for the back end"),
    ("ref-cycles", HARDWARE, 9, "cycles at a constant rate"),
    ("cpu-clock", SOFTWARE, 0, "nanoseconds on the CPU's clock"),
    ("task-clock", SOFTWARE, 1, "nanoseconds in which the thread ran"),
    ("page-faults", SOFTWARE, 2, "page faults"),
    ("context-switches", SOFTWARE, 3, "context switches; reads 0 where the kernel is excluded"),
    ("cpu-migrations", SOFTWARE, 4, "moves to another CPU; reads 0 where the kernel is excluded"),
    ("minor-faults", SOFTWARE, 5, "page faults served from memory"),
    ("major-faults", SOFTWARE, 6, "page faults that waited for a device"),
    ("alignment-faults", SOFTWARE, 7, "unaligned accesses that trapped"),
    ("emulation-faults", SOFTWARE, 8, "instructions that the kernel emulated"),
    ("L1-dcache-loads", CACHE, 0, "loads from the first-level data cache"),
    ("L1-dcache-load-misses", CACHE, 0x1_0000, "loads that missed the first-level data cache"),
    ("L1-dcache-stores", CACHE, 0x100, "stores to the first-level data cache"),
    (
        "L1-icache-load-misses",
        CACHE,
        0x1_0001,
        "fetches that missed the first-level instruction cache",
    ),
    ("LLC-loads", CACHE, 2, "loads from the last-level cache"),
    ("LLC-load-misses", CACHE, 0x1_0002, "loads that missed the last-level cache"),
    ("dTLB-load-misses", CACHE, 0x1_0003, "loads that missed the data TLB"),
    ("dTLB-store-misses", CACHE, 0x1_0103, "stores that missed the data TLB"),
    ("iTLB-load-misses", CACHE, 0x1_0004, "fetches that missed the instruction TLB"),
];

/// Short names that perf accepts as well.
static ALIASES: &[(&str, &str)] = &[
    ("cycles", "cpu-cycles"),
    ("cs", "context-switches"),
    ("faults", "page-faults"),
    ("migrations", "cpu-migrations"),
];

/// The software or generic event with this name, on any processor.
pub(crate) fn find(
    cpu: CpuModel,
    base: &str,
    modifiers: Modifiers,
) -> Option<Result<Encoding, ResolveError>> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(base));
    let base = alias.map_or(base, |(_, name)| name);
    let row = NAMED.iter().find(|(name, ..)| name.eq_ignore_ascii_case(base))?;
    let attr = PerfAttr { kind: row.1, pmu: None, config: row.2, config1: 0, config2: 0 };
    Some(encode(cpu, CanonicalName::new(row.0, modifiers), attr, modifiers))
}

/// An event that has only its attributes.
pub(crate) fn encode(
    cpu: CpuModel,
    name: CanonicalName,
    attr: PerfAttr,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let plain =
        Modifiers { user: modifiers.user, kernel: modifiers.kernel, ..Modifiers::default() };
    if modifiers != plain {
        let reason = "the kernel picks its registers, so it takes no modifier but u and k";
        return Err(ResolveError::grammar(&name.to_string(), reason));
    }
    let mut encoding = Encoding::new(cpu, name, Kind::Perf);
    encoding.rings = Rings { user: modifiers.user, kernel: modifiers.kernel };
    encoding.perf = Some(attr);
    Ok(encoding)
}
