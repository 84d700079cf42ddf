//! Intel and AMD: one selector per general counter, and Intel's fixed counters.
//!
//! `IA32_PERFEVTSELx` (SDM Vol. 3, "Architectural performance monitoring"): event
//! select 7:0, unit mask 15:8, USR 16, OS 17, edge 18, INT 20, AnyThread 21, EN 22,
//! invert 23, counter mask 31:24, second unit mask 47:40. AMD's `PERF_CTLx` agrees,
//! has no AnyThread, and extends the event select with bits 35:32.

use super::{
    BaseName, CanonicalName, Encoding, ExtraChoice, ExtraReg, Kind, Limits, Modifiers, Needs,
    PerfAttr, Rings, Scope,
};
use crate::db::Event;
use crate::resolve_error::{ResolveError, ResolveErrorKind};
use crate::{AnyThread, CounterSet, CpuModel, Family};

pub(crate) const USR: u64 = 1 << 16;
pub(crate) const OS: u64 = 1 << 17;
pub(crate) const EDGE: u64 = 1 << 18;
pub(crate) const INT: u64 = 1 << 20;
pub(crate) const ANY: u64 = 1 << 21;
pub(crate) const EN: u64 = 1 << 22;
pub(crate) const INV: u64 = 1 << 23;
const CMASK: u64 = 0xff << 24;

/// `PERF_TYPE_RAW`.
const TYPE_RAW: u32 = 4;

/// An event as a table has it, whether shipped or the user's own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) name: BaseName,
    /// `config` of perf: PERFEVTSEL without USR, OS and EN, except for fixed counters.
    pub(crate) select: u64,
    pub(crate) choices: [(u16, u16); 4],
    pub(crate) value: u64,
    pub(crate) counters: CounterSet,
    pub(crate) smt_off: CounterSet,
    pub(crate) fixed: Option<u8>,
    pub(crate) taken_alone: bool,
    pub(crate) precise: bool,
    pub(crate) counter_pair: bool,
    /// A field of `PERF_METRICS`.
    pub(crate) topdown: bool,
    pub(crate) counts: Scope,
    pub(crate) errata: &'static str,
}

impl Source {
    pub(crate) fn of(event: &Event) -> Self {
        let flags = event.flags();
        let mut choices = [(0, 0); 4];
        for (slot, choice) in choices.iter_mut().zip(event.choices()) {
            *slot = choice;
        }
        Source {
            name: event.name().into(),
            select: event.select(),
            choices,
            value: event.value(),
            counters: event.counters(),
            smt_off: event.counters_smt_off(),
            fixed: event.fixed(),
            taken_alone: flags.taken_alone(),
            precise: flags.precise(),
            counter_pair: flags.counter_pair(),
            topdown: flags.topdown(),
            counts: match (flags.core_wide(), flags.node_wide()) {
                (_, true) => Scope::Node,
                (true, _) => Scope::Core,
                _ => Scope::Thread,
            },
            errata: event.errata(),
        }
    }

    /// A code that no table names, on all general counters.
    pub(crate) fn raw(cpu: CpuModel, name: String, select: u64) -> Self {
        let facts = cpu.facts();
        Source {
            name: name.into(),
            select,
            choices: [(0, 0); 4],
            value: 0,
            counters: facts.general,
            smt_off: facts.general_smt_off,
            fixed: None,
            taken_alone: false,
            precise: false,
            counter_pair: false,
            topdown: false,
            counts: Scope::Thread,
            errata: "",
        }
    }
}

pub(crate) fn encode(
    cpu: CpuModel,
    source: &Source,
    modifiers: Modifiers,
) -> Result<Encoding, ResolveError> {
    let facts = cpu.facts();
    // Neither a fixed counter nor a field of PERF_METRICS has a selector.
    let fixed_only = source.smt_off.is_empty() && (source.fixed.is_some() || source.topdown);
    let kind = match facts.family {
        Family::Amd => Kind::Amd,
        _ if source.topdown => Kind::TopDown,
        _ if fixed_only => Kind::Fixed,
        _ => Kind::Arch,
    };
    let name = CanonicalName::new(source.name.clone(), modifiers);
    let mut encoding = Encoding::new(cpu, name, kind);
    let select = filtered(cpu, source, modifiers, fixed_only)?;
    let rings = Rings { user: modifiers.user, kernel: modifiers.kernel };
    let ring_bits = bit(USR, rings.user) | bit(OS, rings.kernel);
    let counts = if select & ANY != 0 { Scope::Core } else { source.counts };
    encoding.evtsel = if fixed_only { 0 } else { select | ring_bits };
    encoding.rings = rings;
    encoding.counters = source.counters;
    encoding.counters_smt_off = source.smt_off;
    encoding.fixed = source.fixed;
    encoding.extra = extra_register(cpu, source);
    encoding.limits = Limits {
        taken_alone: source.taken_alone,
        sibling_exclusive: facts.sibling_exclusive_erratum
            && matches!(select & 0xff, 0xd0..=0xd3)
            && !fixed_only,
        counter_pair: source.counter_pair,
        counts,
        precise: source.precise,
    };
    encoding.errata = source.errata;
    encoding.needs = Needs {
        privilege: select & ANY != 0,
        tagging: false,
        smt_off: !fixed_only && source.counters.is_empty() && facts.smt_ways > 1,
    };
    encoding.perf = Some(PerfAttr {
        kind: TYPE_RAW,
        pmu: cpu.perf_pmu(),
        config: select,
        config1: source.value,
        config2: 0,
    });
    Ok(encoding)
}

/// The selector with the filters of the modifiers.
fn filtered(
    cpu: CpuModel,
    source: &Source,
    modifiers: Modifiers,
    fixed_only: bool,
) -> Result<u64, ResolveError> {
    let asked = || CanonicalName::new(source.name.clone(), modifiers).to_string();
    if modifiers.threshold.is_some() || modifiers.complement {
        let reason = "thr and cmpl are NetBurst's; here the filter is c=N, with i for less than N";
        return Err(ResolveError::grammar(&asked(), reason));
    }
    let any_thread = cpu.facts().any_thread;
    let has_any = any_thread == AnyThread::Yes || any_thread == AnyThread::Fixed && fixed_only;
    if modifiers.any_thread && !has_any {
        let reason = match any_thread {
            AnyThread::Fixed => "AnyThread exists on its fixed counters only",
            _ => "it has no AnyThread (gone since Ice Lake); count each sibling and add",
        };
        return Err(ResolveError::impossible(&asked(), cpu, reason));
    }
    let filters = modifiers.edge || modifiers.invert || modifiers.cmask.is_some();
    if fixed_only && filters {
        let reason = match source.topdown {
            true => "a field of PERF_METRICS has no filters",
            false => "a fixed counter has no filters; ask for the general event of the same count",
        };
        return Err(ResolveError::impossible(&asked(), cpu, reason));
    }
    let baked = |what: &str| {
        let reason = format!("{what} is part of the event already");
        ResolveError::new(ResolveErrorKind::Grammar, format!("{} on {cpu}: {reason}", asked()))
    };
    let mut select = source.select;
    if modifiers.edge {
        if select & EDGE != 0 {
            return Err(baked("edge detection"));
        }
        select |= EDGE;
    }
    if modifiers.any_thread {
        select |= ANY;
    }
    if let Some(cmask) = modifiers.cmask {
        if select & CMASK != 0 {
            return Err(baked("a counter mask"));
        }
        select |= u64::from(cmask) << 24;
    }
    if modifiers.invert {
        if select & INV != 0 {
            return Err(baked("inversion"));
        }
        if select & CMASK == 0 {
            return Err(ResolveError::grammar(&asked(), "i asks for cycles below a mask: add c=N"));
        }
        select |= INV;
    }
    Ok(select)
}

/// The bit, if the flag is set.
pub(crate) fn bit(bit: u64, set: bool) -> u64 {
    if set { bit } else { 0 }
}

fn extra_register(cpu: CpuModel, source: &Source) -> Option<ExtraReg> {
    let mut choices = [ExtraChoice::default(); 4];
    let mut count = 0;
    for &(select, msr) in source.choices.iter().take_while(|(_, msr)| *msr != 0) {
        // Arctic Wolf: unit mask bit i selects register i and lives on counter i.
        let tied = cpu.name() == "nvl-arcticwolf" && (0x3e0..=0x3e3).contains(&msr);
        let counters = if tied { CounterSet::only((msr - 0x3e0) as u8) } else { source.smt_off };
        choices[count] = ExtraChoice { msr: u32::from(msr), select, counters };
        count += 1;
    }
    // On Nehalem and Westmere siblings share the load-latency register, like the off-core response
    // register.
    let scope = cpu.facts().offcore_scope;
    (count > 0).then(|| ExtraReg::new(source.value, scope, &choices[..count]))
}
