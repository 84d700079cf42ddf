//! Numbers cores and siblings from a source's facts of each CPU.

use std::collections::BTreeMap;

use crate::{Context, Core, CoreType, CpuSet, Package, Source, Topology};

/// A source's facts of one online CPU.
#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    pub(crate) cpu: u32,
    pub(crate) package: u32,
    pub(crate) die: u32,
    /// Equal for the CPUs of one core and for no others.
    pub(crate) core_key: CoreKey,
    pub(crate) node: u32,
    pub(crate) core_type: CoreType,
}

/// The key that identifies a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CoreKey {
    /// The lowest CPU among the siblings, as the kernel or hwloc lists them.
    LowestCpu(u32),
    /// The kernel's core number: it repeats in every package, and on some machines in every die.
    Id { package: u32, die: u32, id: u32 },
}

/// The machine that has these contexts and no others. It numbers cores by package, die and lowest CPU, and siblings by
/// CPU.
pub(crate) fn assemble(mut cpus: Vec<Cpu>, allowed: &CpuSet, machine: Topology) -> Topology {
    cpus.sort_unstable_by_key(|cpu| cpu.cpu);
    let mut grouped: BTreeMap<CoreKey, Vec<&Cpu>> = BTreeMap::new();
    for cpu in &cpus {
        grouped.entry(cpu.core_key).or_default().push(cpu);
    }
    let mut groups: Vec<Vec<&Cpu>> = grouped.into_values().collect();
    groups.sort_unstable_by_key(|group| (group[0].package, group[0].die, group[0].cpu));

    let mut contexts = Vec::with_capacity(cpus.len());
    let mut cores: Vec<Core> = Vec::with_capacity(groups.len());
    let mut packages: Vec<Package> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let first = group[0];
        match packages.last_mut() {
            Some(last) if last.package == first.package => last.cores.end = index + 1,
            _ => packages.push(Package { package: first.package, cores: index..index + 1 }),
        }
        cores.push(Core {
            core: index as u32,
            package: first.package,
            die: first.die,
            node: first.node,
            core_type: first.core_type,
            cpus: group.iter().map(|cpu| cpu.cpu).collect(),
        });
        contexts.extend(group.iter().zip(0..).map(|(cpu, sibling)| Context {
            cpu: cpu.cpu,
            package: first.package,
            die: first.die,
            core: index as u32,
            sibling,
            node: cpu.node,
            core_type: first.core_type,
            allowed: allowed.contains(cpu.cpu),
        }));
    }
    contexts.sort_unstable_by_key(|context| context.cpu);
    Topology { contexts, cores, packages, ..machine }
}

impl Topology {
    /// A machine without contexts, and without limits.
    pub(crate) fn bare(machine_name: String, source: Source, this_system: bool) -> Topology {
        Topology {
            contexts: Vec::new(),
            cores: Vec::new(),
            packages: Vec::new(),
            offline: CpuSet::default(),
            restrictions: Vec::new(),
            quota: None,
            caveats: Vec::new(),
            machine_name,
            source,
            this_system,
        }
    }
}
