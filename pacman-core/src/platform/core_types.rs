//! The PMUs of a hybrid processor, one for each core type.

use std::cmp::Reverse;
use std::fs;
use std::path::Path;

use pacman_events::{CoreKind, CpuId, CpuModel, few};
use pacman_topology::CpuSet;

use super::cpuinfo;
use super::pmus::DEVICES;

/// The PMU that counts on the cores of one type of a hybrid processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreTypePmu {
    name: String,
    number: u32,
    model: CpuModel,
    cpus: CpuSet,
}

impl CoreTypePmu {
    /// The PMU of this name (`cpu_core`) and number (`attr.type`), whose cores are `cpus` and have
    /// the events of `model`.
    pub fn new(name: impl Into<String>, number: u32, model: CpuModel, cpus: CpuSet) -> CoreTypePmu {
        CoreTypePmu { name: name.into(), number, model, cpus }
    }

    /// The name of its directory under `/sys/bus/event_source/devices`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its `type`, for `attr.type`.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The event table of its cores.
    pub fn model(&self) -> CpuModel {
        self.model
    }

    /// The contexts on which it counts.
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }
}

/// Linux's names on x86 (`arch/x86/events/intel/core.c`), and the core type that CPUID reports on each
/// PMU's cores.
const NAMES: [(&str, CoreKind); 3] = [
    ("cpu_core", CoreKind::Performance),
    ("cpu_atom", CoreKind::Efficient),
    ("cpu_lowpower", CoreKind::LowPower),
];

/// The beginnings of Linux's names on Arm (`drivers/perf/arm_pmuv3.c`, `apple_m1_cpu_pmu.c`).
const ARM_NAMES: [&str; 2] = ["armv", "apple_"];

/// Whether a PMU of this name counts on the cores of one type of a hybrid.
pub(crate) fn is_of_core_type(pmu: &str) -> bool {
    NAMES.iter().any(|(name, _)| *name == pmu) || is_arm(pmu)
}

fn is_arm(pmu: &str) -> bool {
    ARM_NAMES.iter().any(|name| pmu.starts_with(name))
}

/// The core types' PMUs of the system whose `/sys` and `/proc` are under `root`, the performance cores
/// first; empty where there are fewer than two. `id` is CPUID of any of its CPUs.
pub(super) fn core_types_in(root: &Path, id: Option<&CpuId>) -> Vec<CoreTypePmu> {
    let devices = root.join(DEVICES.trim_start_matches('/'));
    let read = |name: &str, model: &dyn Fn(&CpuSet) -> Option<CpuModel>| {
        let text = |file: &str| fs::read_to_string(devices.join(name).join(file)).ok();
        let number = text("type")?.trim().parse().ok()?;
        let cpus = CpuSet::from_list(text("cpus")?.trim()).ok()?;
        // A processor without a table has the kernel's generic events on every core type.
        let model = model(&cpus).unwrap_or_else(CpuModel::generic);
        Some(CoreTypePmu::new(name, number, model, cpus))
    };
    let named = NAMES.iter().filter_map(|(name, kind)| {
        read(name, &|_| CpuModel::detect(&id?.clone().with_core(*kind)))
    });
    let mut types: Vec<CoreTypePmu> = named.collect();
    if types.is_empty() {
        let mut names: Vec<String> = fs::read_dir(&devices)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_arm(name))
            .collect();
        few::sort(&mut names);
        let model = |cpus: &CpuSet| CpuModel::detect(&cpuinfo::cpu_id(root, Some(cpus.first()?))?);
        types.extend(names.iter().filter_map(|name| read(name, &model)));
        few::sort_by_key(&mut types, |pmu| Reverse(capacity(root, &pmu.cpus)));
    }
    if types.len() < 2 { Vec::new() } else { types }
}

/// Linux's measure of how fast these CPUs are beside others.
fn capacity(root: &Path, cpus: &CpuSet) -> u32 {
    let of = |cpu| {
        let file = format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity");
        fs::read_to_string(root.join(file)).ok()?.trim().parse().ok()
    };
    cpus.first().and_then(of).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, file: &str, text: &str) {
        let file = root.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn write_device(root: &Path, file: &str, text: &str) {
        write(root, &format!("sys/bus/event_source/devices/{file}"), text);
    }

    #[test]
    fn arm_s_core_types_come_by_capacity_whatever_their_names() {
        let root = tempfile::tempdir().unwrap();
        let found = || core_types_in(root.path(), None);
        let pmu = |name: &str, number: &str, cpus: &str| {
            write_device(root.path(), &format!("{name}/type"), number);
            write_device(root.path(), &format!("{name}/cpus"), cpus);
        };
        pmu("armv8_cortex_a53", "8\n", "0-3\n");
        write_device(root.path(), "arm_dsu_0/type", "9\n");
        assert_eq!(found(), [], "one core type");
        pmu("armv8_cortex_a72", "10\n", "4-5\n");
        for (cpu, capacity) in [(0, "485\n"), (4, "1024\n")] {
            write(root.path(), &format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"), capacity);
        }
        let types = found();
        let names: Vec<_> = types.iter().map(|pmu| (pmu.name(), pmu.number())).collect();
        assert_eq!(names, [("armv8_cortex_a72", 10), ("armv8_cortex_a53", 8)]);
        assert_eq!(*types[0].cpus(), [4, 5].into_iter().collect());
        assert!(types.iter().all(|pmu| is_of_core_type(pmu.name())));
        assert!(!is_of_core_type("arm_dsu_0"));
    }

    #[test]
    fn each_core_type_has_its_number_its_table_and_its_contexts() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| write_device(root.path(), file, text);
        let id = CpuId::new("GenuineIntel", 6, 0x97, 2).with_core(CoreKind::Efficient);
        let found = || core_types_in(root.path(), Some(&id));
        write("cpu_core/type", "4\n");
        write("cpu_core/cpus", "0-3\n");
        write("software/type", "1\n");
        assert_eq!(found(), [], "with one core type in use all cores are alike");
        write("cpu_atom/type", "10\n");
        write("cpu_atom/cpus", "4-7\n");
        let cpus = |list: &str| CpuSet::from_list(list).unwrap();
        let model = |name: &str| CpuModel::named(name).unwrap();
        assert_eq!(
            found(),
            [
                CoreTypePmu::new("cpu_core", 4, model("adl-goldencove"), cpus("0-3")),
                CoreTypePmu::new("cpu_atom", 10, model("adl-gracemont"), cpus("4-7")),
            ]
        );
        let unknown = CpuId::new("GenuineIntel", 6, 0xff, 0);
        let types = core_types_in(root.path(), Some(&unknown));
        assert!(types.iter().all(|pmu| pmu.model() == CpuModel::generic()));
    }
}
