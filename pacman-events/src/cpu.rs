//! CPU models: the tables of events, their processors and the facts of their counters.

use std::fmt;

use crate::scope::Scope;
use crate::{CoreKind, CounterSet, CpuId};

mod packed {
    use super::{AnyThread, CoreKind, CpuidRow, Family, ModelRow};
    use crate::scope::Scope;
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}

/// One table of events, and the processors it describes: a small copyable number.
///
/// ```
/// use pacman_events::CpuModel;
/// let skylake = CpuModel::named("skl").unwrap();
/// assert_eq!(skylake.title(), "Skylake to Comet Lake");
/// assert_eq!(skylake.facts().general.len(), 4);
/// assert_eq!(skylake.facts().general_smt_off.len(), 8);
/// assert_eq!(CpuModel::named("p4"), CpuModel::named("p4-prescott"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuModel(u8);

/// The performance monitoring unit of a table's processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PmuFacts {
    /// How the counters are programmed.
    pub family: Family,
    /// Hardware contexts per core; 1 if a core runs one thread.
    pub smt_ways: u8,
    /// General counters of one context while its siblings are enabled.
    ///
    /// NetBurst: all 18 of the core, since siblings share them.
    pub general: CounterSet,
    /// General counters with SMT off since reset.
    pub general_smt_off: CounterSet,
    /// Fixed counters of one context. Arm's cycle counter is 31, as in `PMCNTENSET_EL0`; POWER's PMC5
    /// counts instructions and PMC6 cycles.
    pub fixed: CounterSet,
    /// Width of a general counter in bits. On Intel and AMD CPUID takes precedence.
    pub width: u8,
    /// The scope of the off-core response registers.
    pub offcore_scope: Scope,
    /// Events D0 to D3 exclude the sibling (errata BJ122, BV98, HSD29).
    pub sibling_exclusive_erratum: bool,
    /// Whether the `any` modifier (AnyThread) exists, and on which counters.
    pub any_thread: AnyThread,
    /// Whether siblings share the general counters (NetBurst), so that they must be planned
    /// together.
    pub counters_shared: bool,
    /// Counters to avoid: `MSR_BPU_COUNTER1` of NetBurst. Linux considers it broken; no other
    /// source excludes it.
    pub doubtful: CounterSet,
}

/// How a processor's counters are programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// AMD: `PERF_CTLx`.
    Amd,
    /// Arm: `PMEVTYPER<n>_EL0` of PMUv3.
    Arm,
    /// Any processor, through the events that Linux defines for all.
    Generic,
    /// Intel since Nehalem, Atom and Xeon Phi x200: architectural performance monitoring.
    Intel,
    /// Xeon Phi x100 (Knights Corner): Intel selectors without the architecture.
    Knc,
    /// Pentium 4 and its Xeons.
    NetBurst,
    /// UltraSPARC T1 to T4.
    Niagara,
    /// IBM POWER: fields of MMCR1 and its relatives, by Linux's raw codes.
    Power,
    /// IBM Z: counters of the CPU-measurement facility, each of which counts one event.
    S390x,
}

/// Where AnyThread counting exists: one context counts its siblings too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyThread {
    /// On fixed counters only (Knights Landing).
    Fixed,
    /// Nowhere; deprecated since Ice Lake (CPUID.0AH:EDX\[15\]).
    No,
    /// On general and fixed counters.
    Yes,
}

impl CpuModel {
    /// The table of "any processor": presets through the kernel's generic events.
    pub fn generic() -> Self {
        let index = packed::MODELS.iter().position(|row| row.family == Family::Generic);
        CpuModel(index.expect("models.tsv has a generic table") as u8)
    }

    /// The table with this name or alias, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let fits = |row: &ModelRow| {
            let mut names = row.aliases.iter().chain([&row.table]);
            names.any(|known| known.eq_ignore_ascii_case(name))
        };
        packed::MODELS.iter().position(fits).map(|index| CpuModel(index as u8))
    }

    /// The table that describes this processor.
    ///
    /// On a hybrid processor without [`CpuId::core`] it is the table of the performance cores.
    pub fn detect(id: &CpuId) -> Option<Self> {
        let core = id.core.unwrap_or(CoreKind::Performance);
        let mut tables = Self::describing(id);
        let mut first = None;
        tables
            .find(|(kind, table)| {
                first.get_or_insert(*table);
                kind.is_none_or(|kind| kind == core)
            })
            .map(|(_, table)| table)
            .or(first)
    }

    /// The tables of all kinds of core this processor has, in no particular order.
    pub fn of_all_cores(id: &CpuId) -> impl Iterator<Item = CpuModel> + '_ {
        Self::describing(id).map(|(_, table)| table)
    }

    fn describing(id: &CpuId) -> impl Iterator<Item = (Option<CoreKind>, CpuModel)> + '_ {
        let within = |(low, high): (u32, u32), value| low <= value && value <= high;
        packed::CPUIDS
            .iter()
            .filter(move |row| {
                row.vendor == id.vendor
                    && row.family == id.family
                    && within(row.models, id.model)
                    && within(row.steppings, id.stepping)
            })
            .map(|row| (row.core, CpuModel(row.table)))
    }

    /// All tables, oldest first within a family.
    ///
    /// ```
    /// use pacman_events::CpuModel;
    /// assert!(CpuModel::all().any(|cpu| cpu.name() == "zen5"));
    /// ```
    pub fn all() -> impl DoubleEndedIterator<Item = CpuModel> + ExactSizeIterator {
        (0..packed::MODELS.len()).map(|index| CpuModel(index as u8))
    }

    /// The table's name in lower case, as in perfmon if perfmon has it.
    pub fn name(self) -> &'static str {
        self.row().table
    }

    /// Other names of the table.
    pub fn aliases(self) -> &'static [&'static str] {
        self.row().aliases
    }

    /// A description of the processors.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// The facts of the counters.
    pub fn facts(self) -> PmuFacts {
        let row = self.row();
        let netburst = row.family == Family::NetBurst;
        PmuFacts {
            family: row.family,
            smt_ways: row.smt,
            general: CounterSet::from_bits(row.general),
            general_smt_off: CounterSet::from_bits(row.smt_off),
            fixed: CounterSet::from_bits(row.fixed),
            width: row.width,
            offcore_scope: row.offcore,
            sibling_exclusive_erratum: row.erratum,
            any_thread: row.any_thread,
            counters_shared: netburst,
            doubtful: if netburst { CounterSet::only(1) } else { CounterSet::EMPTY },
        }
    }

    /// The directory under `/sys/bus/event_source/devices` whose `type` file must be read. `None`
    /// if raw events of type 4 reach these cores.
    pub fn perf_pmu(self) -> Option<&'static str> {
        Some(self.row().pmu).filter(|pmu| !pmu.is_empty())
    }

    /// The CPUID families and models that select this table, for lists.
    pub fn cpuids(self) -> impl Iterator<Item = (&'static str, u32, (u32, u32))> {
        let rows = packed::CPUIDS.iter().filter(move |row| row.table == self.0);
        rows.map(|row| (row.vendor, row.family, row.models))
    }

    /// The list from which the shipped table has its events, with its version; empty if there is no table.
    pub(crate) fn source(self) -> &'static str {
        self.row().source
    }

    /// First row and number of rows in the packed tables.
    pub(crate) fn rows(self) -> (usize, usize) {
        self.row().rows
    }

    pub(crate) fn family(self) -> Family {
        self.row().family
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    fn row(self) -> &'static ModelRow {
        &packed::MODELS[usize::from(self.0)]
    }
}

impl fmt::Display for CpuModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for CpuModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuModel({})", self.name())
    }
}

/// A row of `models.tsv`.
struct ModelRow {
    table: &'static str,
    aliases: &'static [&'static str],
    title: &'static str,
    family: Family,
    smt: u8,
    general: u64,
    smt_off: u64,
    fixed: u64,
    width: u8,
    offcore: Scope,
    erratum: bool,
    any_thread: AnyThread,
    pmu: &'static str,
    rows: (usize, usize),
    source: &'static str,
}

/// A row of `cpuid.tsv`.
struct CpuidRow {
    vendor: &'static str,
    family: u32,
    models: (u32, u32),
    steppings: (u32, u32),
    core: Option<CoreKind>,
    table: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpuid_selects_by_stepping_and_core_kind() {
        let table = |id: CpuId| CpuModel::detect(&id).map(CpuModel::name);
        assert_eq!(table(CpuId::new("GenuineIntel", 6, 0x55, 4)), Some("skx"));
        assert_eq!(table(CpuId::new("GenuineIntel", 6, 0x55, 7)), Some("clx"));
        assert_eq!(table(CpuId::new("GenuineIntel", 15, 2, 4)), Some("p4-northwood-early"));
        assert_eq!(table(CpuId::new("GenuineIntel", 15, 2, 9)), Some("p4-northwood"));
        assert_eq!(table(CpuId::new("AuthenticAMD", 25, 0x21, 0)), Some("zen3"));
        assert_eq!(table(CpuId::new("AuthenticAMD", 15, 0x21, 0)), Some("k8"));
        assert_eq!(
            table(CpuId::new("GenuineIntel", 6, 0xc5, 0).with_core(CoreKind::LowPower)),
            Some("arl-crestmont")
        );
        assert_eq!(table(CpuId::new("GenuineIntel", 6, 0x97, 0)), Some("adl-goldencove"));
        assert_eq!(table(CpuId::new("GenuineIntel", 6, 0xbe, 0)), Some("adl-gracemont"));
        // Core Duo, and Lakefield, whose two kinds of core no kernel counts.
        assert_eq!(table(CpuId::new("GenuineIntel", 6, 0x0e, 0)), None);
        assert_eq!(table(CpuId::new("GenuineIntel", 6, 0x8a, 0)), None);
        for (family, model, name) in [
            (6, 0x0f, "core2"),
            (6, 0x16, "core2"),
            (6, 0x17, "core2"),
            (6, 0x1d, "core2"),
            (6, 0x66, "skl"),
            (6, 0x75, "slm"),
            (6, 0x9d, "icl"),
            (6, 0xd7, "adl-goldencove"),
            (19, 0x01, "dmr"),
        ] {
            assert_eq!(table(CpuId::new("GenuineIntel", family, model, 0)), Some(name));
        }
    }

    #[test]
    fn no_processor_fits_two_tables_of_one_core_kind() {
        for (index, one) in packed::CPUIDS.iter().enumerate() {
            for other in &packed::CPUIDS[index + 1..] {
                let meet = |a: (u32, u32), b: (u32, u32)| a.0 <= b.1 && b.0 <= a.1;
                let same = one.vendor == other.vendor
                    && one.family == other.family
                    && one.core == other.core
                    && meet(one.models, other.models)
                    && meet(one.steppings, other.steppings);
                assert!(!same, "{} and {}", CpuModel(one.table), CpuModel(other.table));
            }
        }
    }

    #[test]
    fn every_table_but_the_generic_one_has_a_processor() {
        for cpu in
            CpuModel::all().filter(|cpu| !matches!(cpu.family(), Family::Generic | Family::Niagara))
        {
            assert!(cpu.cpuids().next().is_some(), "{cpu}");
        }
    }
}
