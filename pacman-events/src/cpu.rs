//! CPU models: which table describes a processor, and what its counters are like.

use crate::CounterSet;
use crate::encode::Scope;

/// One table of events, and the processors it describes: a small copyable number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuModel(pub(crate) u8);

/// What the performance monitoring unit of a table's processors is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PmuFacts {
    /// How the counters are programmed.
    pub family: Family,
    /// Hardware contexts per core: 1 where a core runs one thread.
    pub smt_ways: u8,
    /// General counters of one context while its siblings are enabled.
    ///
    /// NetBurst: all 18 of the core, since siblings share them.
    pub general: CounterSet,
    /// General counters with SMT off since reset.
    pub general_smt_off: CounterSet,
    /// Fixed counters of one context.
    pub fixed: CounterSet,
    /// Width of a counter in bits. On Intel and AMD CPUID has the last word.
    pub width: u8,
    /// Who shares the off-core response registers.
    pub offcore_scope: Scope,
    /// Events D0 to D3 exclude the sibling (errata BJ122, BV98, HSD29).
    pub sibling_exclusive_erratum: bool,
    /// Whether the `any` modifier (AnyThread) exists on general counters.
    pub any_thread: bool,
    /// Whether a general counter's number is core-wide: siblings share the counters
    /// (NetBurst), so that they must be planned together.
    pub counters_shared: bool,
}

/// How a processor's counters are programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// AMD: `PERF_CTLx`.
    Amd,
    /// Intel since Nehalem, Atom and Xeon Phi x200: architectural performance monitoring.
    Intel,
    /// Xeon Phi x100 (Knights Corner): Intel selectors without the architecture.
    Knc,
    /// Pentium 4 and its Xeons.
    NetBurst,
    /// UltraSPARC T1 to T4.
    Niagara,
}
