//! The PMUs of a hybrid processor, one for each core type.

use std::fs;
use std::path::Path;

use pacman_events::{CoreKind, CpuId, CpuModel};
use pacman_topology::CpuSet;

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

/// Linux's names (`arch/x86/events/intel/core.c`), and the core type that CPUID reports on each
/// PMU's cores.
const NAMES: [(&str, CoreKind); 3] = [
    ("cpu_core", CoreKind::Performance),
    ("cpu_atom", CoreKind::Efficient),
    ("cpu_lowpower", CoreKind::LowPower),
];

/// Whether a PMU of this name counts on the cores of one type of a hybrid.
pub(crate) fn is_of_core_type(pmu: &str) -> bool {
    NAMES.iter().any(|(name, _)| *name == pmu)
}

/// The core types' PMUs below a directory such as [`DEVICES`](super::DEVICES), the performance
/// cores first; empty where there are fewer than two.
pub(super) fn core_types_in(devices: &Path, id: Option<&CpuId>) -> Vec<CoreTypePmu> {
    let read = |(name, kind): &(&str, CoreKind)| {
        let text = |file: &str| fs::read_to_string(devices.join(name).join(file)).ok();
        let number = text("type")?.trim().parse().ok()?;
        let cpus = CpuSet::from_list(text("cpus")?.trim()).ok()?;
        let model = id.and_then(|id| CpuModel::detect(&id.clone().with_core(*kind)));
        // A processor without a table has the kernel's generic events on every core type.
        Some(CoreTypePmu::new(*name, number, model.unwrap_or_else(CpuModel::generic), cpus))
    };
    let types: Vec<CoreTypePmu> = NAMES.iter().filter_map(read).collect();
    if types.len() < 2 { Vec::new() } else { types }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_type_has_its_number_its_table_and_its_contexts() {
        let devices = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = devices.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let id = CpuId::new("GenuineIntel", 6, 0x97, 2).with_core(CoreKind::Efficient);
        let found = || core_types_in(devices.path(), Some(&id));
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
        let types = core_types_in(devices.path(), Some(&unknown));
        assert!(types.iter().all(|pmu| pmu.model() == CpuModel::generic()));
    }
}
