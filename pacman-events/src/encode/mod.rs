//! The hardware's form of an event: selector values, legal counters, extra registers and the fields
//! of `perf_event_attr`.

pub(crate) mod arch;
pub(crate) mod code;
mod name;
mod netburst;
pub(crate) mod netburst_encoder;
pub(crate) mod niagara;
pub(crate) mod perf;

pub use crate::scope::Scope;
pub(crate) use name::BaseName;
pub use name::{CanonicalName, Modifiers};
pub use netburst::{Companion, EscrChoice, EscrId, NetBurst, Replay, Tag, ThreadKind};

use crate::resolve_error::ResolveError;
use crate::{CounterSet, CpuModel};

/// One event of one table, ready for a counter.
///
/// A plain value: events of the shipped tables need no heap. The public fields are facts. Only an
/// allocation gives the right to use a counter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Encoding {
    /// The table that the event was found in.
    pub cpu: CpuModel,
    /// The event as its table spells it, with unit masks and modifiers.
    pub name: CanonicalName,
    /// The registers that program the event.
    pub kind: Kind,
    /// `IA32_PERFEVTSELx` or AMD `PERF_CTLx` (kinds [`Kind::Arch`], [`Kind::Amd`];
    /// also of a fixed event that general counters can count), the Niagara PCR
    /// field of PIC 0, or the code of a [`Kind::Code`]. The USR, OS, EN and INT bits are 0 unless `u` or `k` was
    /// asked, see [`Encoding::rings`]. 0 where the kind has no such register.
    pub evtsel: u64,
    /// The rings that `u` and `k` requested. Without either, the caller decides.
    pub rings: Rings,
    /// General counters that may count the event while sibling contexts are enabled.
    pub counters: CounterSet,
    /// General counters that may count the event with SMT off since reset.
    pub counters_smt_off: CounterSet,
    /// The fixed counter that counts the event. If [`Encoding::counters`] is not empty, general
    /// counters may count the event instead.
    pub fixed: Option<u8>,
    /// The model-specific register that must hold a value while the event counts. No known model needs more than one.
    pub extra: Option<ExtraReg>,
    /// Other limits: the places where it may run, and the events that must run with it.
    pub limits: Limits,
    /// Numbers of the vendor's errata about the event, comma-separated; empty if the source has
    /// none.
    pub errata: &'static str,
    /// The conditions without which the event counts nothing.
    pub needs: Needs,
    /// ESCR and CCCR of a NetBurst event.
    pub netburst: Option<NetBurst>,
    /// The fields of `perf_event_attr`; `None` if Linux cannot express the event.
    pub perf: Option<PerfAttr>,
}

/// The registers that program an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// AMD `PERF_CTLx`.
    Amd,
    /// Architectural Intel, `IA32_PERFEVTSELx`.
    Arch,
    /// One code: the event of Arm's `PMEVTYPER<n>_EL0`, Linux's raw code of POWER, or the number of a
    /// counter of IBM Z.
    Code,
    /// An Intel fixed counter, and nothing else.
    Fixed,
    /// ESCR and CCCR.
    NetBurst,
    /// UltraSPARC `PCR`.
    Niagara,
    /// Known only as `perf_event_attr`: software events and PMUs read from sysfs.
    /// The kernel chooses the counter.
    Perf,
    /// A field of Intel's `PERF_METRICS`: slots, counted together with fixed counter 3 and by the kernel
    /// only, since the register holds fractions.
    TopDown,
}

/// The part of an event in Intel's top-down analysis (SDM Vol. 3, "Performance metrics").
///
/// Linux counts the fields in a group that `Slots` leads, in the same rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopDown {
    /// All slots: fixed counter 3.
    Slots,
    /// The slots of this field of `PERF_METRICS`, from 0: retiring, bad speculation, frontend bound,
    /// backend bound, heavy operations, branch mispredicts, fetch latency, memory bound.
    Field(u8),
}

/// The privilege rings in which an event counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rings {
    /// Count in user mode (`u`).
    pub user: bool,
    /// Count in kernel mode (`k`).
    pub kernel: bool,
}

/// Restrictions beyond the set of legal counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Limits {
    /// The event must be the only one on the general counters of its context
    /// (perfmon's `TakenAlone`).
    pub taken_alone: bool,
    /// Events D0 to D3 of Sandy Bridge, Ivy Bridge and Haswell corrupt the sibling's counter of the
    /// same number (errata BJ122, BV98, HSD29). While one runs, that counter is closed to the
    /// sibling. At most half of the general counters may then run in each context. Only with SMT
    /// on.
    pub sibling_exclusive: bool,
    /// The event needs an even counter and the odd one after it (AMD events that add
    /// more than 15 in one cycle; the odd counter is programmed with event FFFh).
    pub counter_pair: bool,
    /// The count covers this scope on any context that hosts it. It is `Core` for AnyThread and for
    /// events that the core counts once, `Node` for northbridge events. The sum over siblings would
    /// count twice.
    pub counts: Scope,
    /// Whether it can be sampled exactly (PEBS). Counting does not need that.
    pub precise: bool,
}

/// The conditions of an event that its encoding alone does not meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Needs {
    /// Counts for siblings too, and therefore needs CAP_PERFMON or root.
    pub privilege: bool,
    /// Counts only micro-operations that another event tagged, but none is named. Use one of the
    /// tagging metrics instead.
    pub tagging: bool,
    /// No general counter can count it while siblings are enabled.
    pub smt_off: bool,
}

/// The conditions of a place, to compare with an event's [`Needs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conditions {
    /// Sibling contexts are enabled.
    pub smt: bool,
    /// Counting for other threads is allowed (CAP_PERFMON, root, or paranoia 0).
    pub privileged: bool,
    /// The caller programs the tagging event itself.
    pub tagged: bool,
}

impl Needs {
    /// Whether nothing is needed.
    pub const fn is_nothing(self) -> bool {
        !self.privilege && !self.tagging && !self.smt_off
    }
}

/// The fields of `struct perf_event_attr` that select an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PerfAttr {
    /// `attr.type`: 4 is `PERF_TYPE_RAW`, 1 is `PERF_TYPE_SOFTWARE`.
    pub kind: u32,
    /// The PMU's directory under `/sys/bus/event_source/devices` whose `type` file must be read.
    /// The kernel assigns that number at boot (the efficient cores of a hybrid). `None` if
    /// [`PerfAttr::kind`] is final.
    pub pmu: Option<&'static str>,
    /// `attr.config`.
    pub config: u64,
    /// `attr.config1`: the extra register's value, for off-core, latency and
    /// front-end events.
    pub config1: u64,
    /// `attr.config2`.
    pub config2: u64,
}

/// A register that must hold [`ExtraReg::value`] while the event counts.
///
/// Two events of one scope may share a register only with equal values. Some registers have twins
/// to choose from. The choice also decides the event select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtraReg {
    /// The value, the same for every choice.
    pub value: u64,
    /// `Core` if siblings share the register (Nehalem, Westmere).
    pub scope: Scope,
    choices: [ExtraChoice; 4],
    len: u8,
}

/// One register that can hold an [`ExtraReg`]'s value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraChoice {
    /// Number of the model-specific register.
    pub msr: u32,
    /// Unit mask and event select (bits 15:0 of PERFEVTSEL) that use this register.
    pub select: u16,
    /// Counters that can count through this register, in addition to the event's own limits. Arctic
    /// Wolf ties each register to one counter.
    pub counters: CounterSet,
}

impl ExtraReg {
    /// A register with the choices in order of preference. It keeps at most four, because no model
    /// has more twins.
    pub fn new(value: u64, scope: Scope, choices: &[ExtraChoice]) -> Self {
        let mut kept = [ExtraChoice::default(); 4];
        let len = choices.len().min(kept.len());
        kept[..len].copy_from_slice(&choices[..len]);
        ExtraReg { value, scope, choices: kept, len: len as u8 }
    }

    /// The registers that can hold the value, the preferred one first. Never empty in an encoding.
    pub fn choices(&self) -> &[ExtraChoice] {
        &self.choices[..usize::from(self.len)]
    }
}

impl Encoding {
    /// An event without counters and registers; the encoders fill them in.
    pub fn new(cpu: CpuModel, name: CanonicalName, kind: Kind) -> Self {
        Encoding {
            cpu,
            name,
            kind,
            evtsel: 0,
            rings: Rings::default(),
            counters: CounterSet::EMPTY,
            counters_smt_off: CounterSet::EMPTY,
            fixed: None,
            extra: None,
            limits: Limits::default(),
            errata: "",
            needs: Needs::default(),
            netburst: None,
            perf: None,
        }
    }

    /// Whether the event would count under these conditions.
    ///
    /// ```
    /// use pacman_events::encode::Conditions;
    /// use pacman_events::{CpuModel, ResolveErrorKind, resolve};
    /// let p4 = CpuModel::named("p4").unwrap();
    /// let here = Conditions { smt: true, privileged: true, tagged: false };
    /// let bare = resolve(p4, "replay_event:NBOGUS").unwrap();
    /// let refusal = bare.encoding().unwrap().admit(here).unwrap_err();
    /// assert_eq!(refusal.kind(), ResolveErrorKind::Needs);
    /// assert!(resolve(p4, "1stL_cache_load_miss_retired").unwrap().encoding().unwrap().admit(here).is_ok());
    /// ```
    ///
    /// # Errors
    /// [`ResolveErrorKind::Needs`](crate::ResolveErrorKind::Needs) with the missing requirement.
    pub fn admit(&self, conditions: Conditions) -> Result<(), ResolveError> {
        let facts = self.cpu.facts();
        let alone = facts.smt_ways == 1 || !conditions.smt;
        let what = if self.needs.tagging && !conditions.tagged {
            "a tagging event upstream: ask for a metric such as 1stL_cache_load_miss_retired, \
             which brings its own"
        } else if self.needs.smt_off && conditions.smt {
            "SMT off since reset: with siblings enabled no counter can count it"
        } else if self.needs.privilege && !conditions.privileged && !alone {
            "CAP_PERFMON or root, because it counts the sibling's work too"
        } else {
            return Ok(());
        };
        Err(ResolveError::needs(&self.name.to_string(), self.cpu, what))
    }

    /// The event's part in top-down analysis. `None` for any other event, and if the processor has
    /// no `PERF_METRICS`.
    ///
    /// ```
    /// use pacman_events::{CpuModel, encode::TopDown, resolve};
    /// let ice_lake = CpuModel::named("icx").unwrap();
    /// let part = |name| resolve(ice_lake, name).unwrap().encoding().unwrap().topdown();
    /// assert_eq!(part("SLOTS"), Some(TopDown::Slots));
    /// assert_eq!(part("TOPDOWN_BACKEND_BOUND"), Some(TopDown::Field(3)));
    /// assert_eq!(part("CYCLES"), None);
    /// ```
    pub fn topdown(&self) -> Option<TopDown> {
        let perf = self.perf.filter(|_| self.cpu.has_perf_metrics())?;
        // PERF_TYPE_RAW, or on hybrids a PMU of the core type.
        match perf.config {
            _ if perf.kind < 4 && perf.pmu.is_none() => None,
            0x400 => Some(TopDown::Slots),
            field if field & !0x700 == 0x8000 => Some(TopDown::Field((field >> 8 & 7) as u8)),
            _ => None,
        }
    }

    /// General counters that may count the event, by whether siblings are enabled.
    pub fn counters_with(&self, smt: bool) -> CounterSet {
        if smt { self.counters } else { self.counters_smt_off }
    }
}
