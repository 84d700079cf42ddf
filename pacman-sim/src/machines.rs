//! The machines that can be simulated, with model, topology and clocks.

use pacman_core::platform::CoreTypePmu;
use pacman_events::{CpuModel, SysfsPmu};
use pacman_topology::{CoreType, CpuSet, Topology};
use parking_lot::Mutex;

use super::hardware::CorePmu;

/// The description of a machine.
#[derive(Debug)]
pub(super) struct MachineSpec {
    /// The name of the machine for users.
    pub(super) name: &'static str,
    /// The table of its events; of the performance cores' on a hybrid.
    pub(super) model: &'static str,
    /// The table of the efficient cores' events on a hybrid.
    pub(super) efficient: Option<&'static str>,
    /// The machine in words.
    pub(super) title: &'static str,
    /// The text for [`Topology::synthetic`](crate::Topology::synthetic).
    pub(super) topology: &'static str,
    /// Core cycles in a running microsecond.
    pub(super) core_mhz: u64,
    /// TSC ticks in a microsecond, and reference cycles in a running microsecond.
    pub(super) tsc_mhz: u64,
    /// Ticks of the slow clock in a microsecond. Some events count this clock.
    pub(super) slow_mhz: u64,
    /// Core cycles for a thousand instructions of its workload.
    pub(super) cycles_per_1000: u64,
}

impl MachineSpec {
    /// The machine with this name, in upper or lower case.
    pub(super) fn named(name: &str) -> Option<&'static MachineSpec> {
        MACHINES.iter().find(|spec| spec.name.eq_ignore_ascii_case(name))
    }

    /// All names, as a list for error messages.
    pub(super) fn names() -> String {
        MACHINES.each_ref().map(|spec| spec.name).join(", ")
    }

    /// A core of each type after a reset, with all its contexts.
    pub(super) fn cores(&self) -> Vec<CorePmu> {
        self.models().into_iter().map(|model| self.core(model)).collect()
    }

    fn core(&self, model: CpuModel) -> CorePmu {
        // The first core of a model reads the whole table; the others are copies.
        static CORES: Mutex<Vec<(&str, CpuModel, CorePmu)>> = Mutex::new(Vec::new());
        let mut cores = CORES.lock();
        let known = |(name, of, _): &&(&str, CpuModel, _)| (*name, *of) == (self.name, model);
        if let Some((.., core)) = cores.iter().find(known) {
            return core.clone();
        }
        let core = CorePmu::new(model, model.facts().smt_ways)
            .expect("a test simulates every model")
            .with_bus_ratio(self.tsc_mhz / self.slow_mhz);
        cores.push((self.name, model, core.clone()));
        core
    }

    /// The event tables of its core types, the performance cores' first; one on most machines.
    pub(super) fn models(&self) -> Vec<CpuModel> {
        let named = |name| CpuModel::named(name).expect("a test looks every model up");
        [Some(self.model), self.efficient].into_iter().flatten().map(named).collect()
    }

    /// The type of a core, as an index into [`models`](Self::models).
    pub(super) fn type_of(&self, core_type: CoreType) -> usize {
        usize::from(self.efficient.is_some() && core_type == CoreType::Efficiency)
    }

    /// The PMUs of its core types; none where all cores are alike.
    pub(super) fn core_types(&self) -> Vec<CoreTypePmu> {
        if self.efficient.is_none() {
            return Vec::new();
        }
        let topology = Topology::synthetic(self.topology).expect("a test reads every spec");
        let pmu = |(at, model): (usize, CpuModel)| {
            let own = topology.contexts().iter().filter(|it| self.type_of(it.core_type) == at);
            let cpus: CpuSet = own.map(|context| context.cpu).collect();
            CoreTypePmu::new(PMUS[at].0, PMUS[at].1, model, cpus)
        };
        self.models().into_iter().enumerate().map(pmu).collect()
    }

    /// The PMUs that its kernel describes.
    pub(super) fn pmus(&self) -> Vec<SysfsPmu> {
        if self.efficient.is_none() {
            return vec![plain_pmu()];
        }
        let pmu = |(name, number): &(&str, u32)| {
            SysfsPmu::parse(name, &number.to_string(), [], []).expect("as plain as they come")
        };
        PMUS.iter().map(pmu).collect()
    }

    /// The ratio of TSC and crystal clock, as numerator and denominator; `None` for models without
    /// CPUID leaf 15H. The leaf's EAX is 2 on all processors tested.
    pub(super) fn crystal(&self) -> Option<(u32, u32)> {
        let ticks = 2 * self.tsc_mhz / self.slow_mhz;
        CRYSTALS.contains(&self.slow_mhz).then_some((ticks as u32, 2))
    }

    /// The table of its events.
    pub(super) fn cpu(&self) -> CpuModel {
        CpuModel::named(self.model).expect("a test looks every model up")
    }
}

/// The names and numbers of a hybrid's PMUs. The second number is one that Linux hands out at boot.
pub(crate) const PMUS: [(&str, u32); 2] = [("cpu_core", 4), ("cpu_atom", 10)];

/// The crystal clocks of Skylake and later cores, in MHz. The slow clock of earlier cores is not a
/// crystal.
const CRYSTALS: [u64; 2] = [24, 25];

const fn spec(
    (name, model): (&'static str, &'static str),
    title: &'static str,
    topology: &'static str,
    (core_mhz, tsc_mhz, slow_mhz): (u64, u64, u64),
    cycles_per_1000: u64,
) -> MachineSpec {
    let efficient = None;
    MachineSpec {
        name,
        model,
        efficient,
        title,
        topology,
        core_mhz,
        tsc_mhz,
        slow_mhz,
        cycles_per_1000,
    }
}

impl MachineSpec {
    /// The same with efficient cores of another model.
    const fn with_efficient(mut self, model: &'static str) -> MachineSpec {
        self.efficient = Some(model);
        self
    }
}

/// Clocks are the nominal ones of one processor of each family. The core clock is the turbo clock,
/// if the processor has turbo. Cycles per instruction are a guess for a mixed integer workload.
static MACHINES: [MachineSpec; 8] = [
    spec(
        ("p4", "p4"),
        "two Xeons of the Pentium 4 family with Hyper-Threading, 3.0 GHz",
        "2 packages, 1 cores, 2 threads",
        (3000, 3000, 200),
        2200,
    ),
    spec(
        ("nehalem", "nhm-ep"),
        "Nehalem, four cores of two threads, 2.66 GHz",
        "4 cores, 2 threads",
        (2793, 2660, 133),
        1500,
    ),
    spec(
        ("haswell", "hsw"),
        "Haswell, four cores of two threads, 3.4 GHz",
        "4 cores, 2 threads",
        (3800, 3400, 100),
        1100,
    ),
    spec(
        ("skylake", "skl"),
        "Skylake, four cores of two threads, 3.4 GHz",
        "4 cores, 2 threads",
        (3900, 3408, 24),
        1050,
    ),
    spec(
        ("icelake", "icx"),
        "Ice Lake server, eight cores of two threads, 2.4 GHz",
        "8 cores, 2 threads",
        (3200, 2400, 25),
        900,
    ),
    spec(
        ("zen4", "zen4"),
        "Zen 4, eight cores of two threads, 4.5 GHz",
        "8 cores, 2 threads",
        (5000, 4500, 100),
        850,
    ),
    spec(
        ("knl", "knl"),
        "Knights Landing, 64 cores of four threads, 1.4 GHz",
        "64 cores, 4 threads",
        (1400, 1400, 100),
        2000,
    ),
    // One clock and one pace for both core types, so that a move between them changes no figure.
    spec(
        ("alderlake", "adl-goldencove"),
        "Alder Lake, two performance cores of two threads and four efficient cores, 3.2 GHz",
        "2 p-cores, 2 threads, 4 e-cores",
        (4800, 3200, 100),
        800,
    )
    .with_efficient("adl-gracemont"),
];

/// The only PMU of a machine whose cores are all alike.
pub(crate) fn plain_pmu() -> SysfsPmu {
    SysfsPmu::parse("cpu", "4", [], []).expect("the plainest PMU there is")
}

#[cfg(test)]
mod tests {
    use super::*;
    use pacman_topology::Topology;

    #[test]
    fn every_machine_has_a_table_and_a_topology_of_as_many_contexts_a_core() {
        for spec in &MACHINES {
            let topology = Topology::synthetic(spec.topology).unwrap();
            let ways = spec.cpu().facts().smt_ways;
            assert_eq!(topology.contexts_per_core(), usize::from(ways), "{}", spec.name);
            // Counts of the slow clock are multiplied by this.
            assert_eq!(spec.tsc_mhz % spec.slow_mhz, 0, "{}", spec.name);
        }
    }
}
