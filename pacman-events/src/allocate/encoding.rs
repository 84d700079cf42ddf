//! Derives an event's constraints on a core from its encoding.

use super::pmu::MAX_CONTEXTS;
use super::{
    Alternative, CounterUse, EventConstraints, Pmu, Register, RegisterKind, SiblingErratum,
    netburst,
};
use crate::encode::{Encoding, ExtraChoice, ExtraReg, Kind, Rings, Scope, ThreadKind};
use crate::{CounterSet, CpuModel, Family};

impl Pmu {
    /// The core of a table, with its sibling contexts enabled or not.
    ///
    /// `smt` is true if siblings were enabled at reset. That decides the number of general
    /// counters per context on twelve Intel families. A sibling that goes offline later does not
    /// give counters back (perfmon README, `CounterHTOff`).
    ///
    /// ```
    /// use pacman_events::CpuModel;
    /// use pacman_events::allocate::{EventConstraints, Pmu, allocate};
    /// use pacman_events::encode::Rings;
    ///
    /// let skl = CpuModel::named("skl").unwrap();
    /// let pmu = Pmu::of(skl, true);
    /// let stalls = pacman_events::resolve(skl, "STALL_CYCLES").unwrap();
    /// let user = Rings { user: true, kernel: false };
    /// let demand = EventConstraints::of(stalls.encoding().unwrap(), &pmu, user);
    /// assert!(allocate(&pmu, &[demand]).is_ok());
    /// ```
    pub fn of(cpu: CpuModel, smt: bool) -> Self {
        let facts = cpu.facts();
        let contexts = match facts.family {
            _ if !smt => 1,
            // Such a core has no known facts, not even the number of its threads.
            Family::Generic => MAX_CONTEXTS,
            _ => facts.smt_ways.clamp(1, MAX_CONTEXTS),
        };
        if facts.counters_shared {
            return Pmu::netburst(cpu.name(), contexts);
        }
        let general = if smt { facts.general } else { facts.general_smt_off };
        let mut pmu = Pmu::per_context(cpu.name(), contexts, general)
            .with_fixed(facts.fixed)
            .with_smt_off(facts.general_smt_off);
        pmu.smt = smt;
        if facts.sibling_exclusive_erratum && contexts > 1 {
            // Linux, arch/x86/events/core.c, x86_schedule_events: half of the general
            // counters, so that exclusive events cannot starve the sibling.
            let budget = Some((general.len() / 2) as u8);
            pmu = pmu.with_erratum(SiblingErratum { name: erratum(cpu.name()), budget });
        }
        pmu
    }

    /// Reserves a counter for the kernel's NMI watchdog on every context. It takes the fixed counter of
    /// cycles, or a general counter if the model has none (kernel/watchdog_perf.c). The watchdog's event is
    /// pinned, so it never yields.
    pub fn with_watchdog(mut self) -> Self {
        const REMEDY: &str = "stop the NMI watchdog (sysctl kernel.nmi_watchdog=0)";
        for context in 0..self.contexts() {
            // Intel has it in fixed counter 1, Arm in PMCCNTR.
            let cycles = self.fixed().and(CounterSet::only(1).with(31));
            let held = if self.shares_counters() {
                netburst::watchdog(context)
            } else if !cycles.is_empty() {
                EventConstraints::new("the NMI watchdog", [Alternative::fixed(cycles)])
            } else {
                EventConstraints::new("the NMI watchdog", [Alternative::general(self.general())])
            };
            self = self.reserving(context, held, REMEDY);
        }
        self
    }
}

/// The erratum's number on each family that has it.
fn erratum(table: &str) -> &'static str {
    match table {
        "snb" | "jkt" => "BJ122",
        "ivb" | "ivt" => "BV98",
        _ => "HSD29",
    }
}

impl EventConstraints {
    /// The constraints of an encoding on a core.
    ///
    /// `rings` applies to events without `u` and `k`. On NetBurst the rings are part of the ESCR's
    /// value, so one event in two rings takes two ESCRs. On UltraSPARC T1 to T3 both counters of a
    /// strand share them.
    pub fn of(encoding: &Encoding, pmu: &Pmu, rings: Rings) -> Self {
        let rings = if encoding.rings == Rings::default() { rings } else { encoding.rings };
        let alternatives = match (&encoding.netburst, encoding.kind) {
            (Some(event), _) => netburst::alternatives(event, rings, pmu.contexts()),
            (None, Kind::Perf | Kind::TopDown | Kind::Code)
                if encoding.counters.is_empty() && encoding.fixed.is_none() =>
            {
                vec![Alternative::uncounted()]
            }
            _ => per_context(encoding, pmu, rings),
        };
        let mut demand = EventConstraints::new(encoding.name.to_string(), alternatives)
            .with_smt_off(encoding.counters_smt_off);
        if encoding.limits.sibling_exclusive {
            demand = demand.excluding_sibling();
        }
        let independent =
            encoding.netburst.is_some_and(|event| event.thread_kind == ThreadKind::Independent);
        if encoding.limits.counts != Scope::Thread || independent {
            demand = demand.counting_core();
        }
        demand
    }
}

/// The alternatives to count on counters that belong to one context.
fn per_context(encoding: &Encoding, pmu: &Pmu, rings: Rings) -> Vec<Alternative> {
    let mut alternatives = Vec::new();
    let in_mode = |alternative: Alternative| match has_one_mode(encoding, pmu) {
        true => alternative.claiming(
            Register::unnumbered(RegisterKind::ModeBits, 0, Scope::Thread),
            u64::from(rings.user) | u64::from(rings.kernel) << 1,
        ),
        false => alternative,
    };
    if let Some(fixed) = encoding.fixed {
        alternatives.push(in_mode(Alternative::fixed(CounterSet::only(fixed))));
    }
    let counters = encoding.counters_with(pmu.smt);
    if counters.is_empty() {
        return alternatives;
    }
    let mut general = in_mode(Alternative::general(counters));
    general.counter_use = match encoding.limits {
        limits if limits.counter_pair => CounterUse::Pair,
        limits if limits.taken_alone => CounterUse::Alone,
        _ => CounterUse::One,
    };
    if encoding.limits.counts == Scope::Node && pmu.contexts() > 1 {
        alternatives.extend((0..pmu.contexts()).flat_map(|core| northbridge(&general, core)));
        return alternatives;
    }
    match &encoding.extra {
        None => alternatives.push(general),
        Some(extra) => {
            alternatives.extend(extra.choices().iter().map(|it| extra_way(&general, extra, it)))
        }
    }
    alternatives
}

/// Whether all counters of a context count in the same modes.
///
/// UltraSPARC T1 to T3: UT and ST are one pair of bits in the PCR; T4 has a PCR per counter (Solaris
/// sun4v niagara_pcbe.c and niagara2_pcbe.c). POWER: FCS and FCP of MMCR0 (Power ISA, book III).
fn has_one_mode(encoding: &Encoding, pmu: &Pmu) -> bool {
    match encoding.cpu.family() {
        Family::Niagara => pmu.general().len() == 2,
        Family::Power => encoding.kind == Kind::Code,
        _ => false,
    }
}

/// A counter counts a northbridge event for only one core of the node (AMD K8 to family 14h; Linux,
/// arch/x86/events/amd/core.c, `__amd_get_nb_event_constraints`).
fn northbridge(general: &Alternative, core: u8) -> impl Iterator<Item = Alternative> {
    let general = general.clone();
    general.general.iter().map(move |counter| {
        let owner = Register::unnumbered(RegisterKind::Northbridge, counter, Scope::Node);
        let alternative = Alternative { general: CounterSet::only(counter), ..general.clone() };
        alternative.claiming(owner, u64::from(core)).on(core)
    })
}

fn extra_way(general: &Alternative, extra: &ExtraReg, choice: &ExtraChoice) -> Alternative {
    let kind = match choice.msr {
        0x1a6 | 0x1a7 | 0x3e0..=0x3e3 => RegisterKind::OffcoreResponse,
        0x3f6 => RegisterKind::LoadLatency,
        0x3f7 => RegisterKind::Frontend,
        _ => RegisterKind::Other,
    };
    let mut alternative = general.clone();
    if !choice.counters.is_empty() {
        alternative.general = alternative.general.and(choice.counters);
    }
    alternative.claiming(Register::msr(kind, choice.msr, extra.scope), extra.value)
}
