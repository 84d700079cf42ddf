//! The machines that can be simulated, with model, topology and clocks.

use pacman_events::{CpuModel, SysfsPmu};
use parking_lot::Mutex;

use super::hardware::CorePmu;

/// The description of a machine.
#[derive(Debug)]
pub(super) struct MachineSpec {
    /// The name of the machine for users.
    pub(super) name: &'static str,
    /// The table of its events.
    pub(super) model: &'static str,
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

    /// A core with all its contexts after a reset.
    pub(super) fn core(&self) -> CorePmu {
        // The first core of a model reads the whole table; the others are copies.
        static CORES: Mutex<Vec<(&str, CorePmu)>> = Mutex::new(Vec::new());
        let mut cores = CORES.lock();
        if let Some((_, core)) = cores.iter().find(|(name, _)| *name == self.name) {
            return core.clone();
        }
        let ways = self.cpu().facts().smt_ways;
        let core = CorePmu::new(self.cpu(), ways)
            .expect("a test simulates every model")
            .with_bus_ratio(self.tsc_mhz / self.slow_mhz);
        cores.push((self.name, core.clone()));
        core
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
    MachineSpec { name, model, title, topology, core_mhz, tsc_mhz, slow_mhz, cycles_per_1000 }
}

/// Clocks are the nominal ones of one processor of each family. The core clock is the turbo clock,
/// if the processor has turbo. Cycles per instruction are a guess for a mixed integer workload.
static MACHINES: [MachineSpec; 7] = [
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
];

/// The only PMU of every machine.
pub(crate) fn pmus() -> Vec<SysfsPmu> {
    vec![SysfsPmu::parse("cpu", "4", [], []).expect("the plainest PMU there is")]
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
