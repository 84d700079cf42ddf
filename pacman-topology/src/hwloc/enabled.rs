//! Topology through the hwloc library.

use std::path::Path;

use hwlocality::Topology as Hwloc;
use hwlocality::object::TopologyObject;
use hwlocality::object::types::ObjectType;
use hwlocality::topology::builder::BuildFlags;

use crate::affinity;
use crate::assemble::{CoreKey, Cpu, assemble};
use crate::sysfs;
use crate::tree::Tree;
use crate::{CoreType, CpuSet, Source, Topology, cpu_bits::LAST_CPU};
use pacman_events::{Error, ErrorKind, Result};

pub(crate) fn read() -> Result<Topology> {
    let machine = load()?;
    let objects: Vec<&TopologyObject> = machine.objects_with_type(ObjectType::PU).collect();
    let online: CpuSet = objects.iter().filter_map(|object| number(object)).collect();
    if online.is_empty() {
        return Err(failed("it lists no hardware context"));
    }
    let here = machine.is_this_system();
    // If hwloc describes a file, /sys belongs to another machine.
    let tree = Tree::under(Path::new(if here { "/" } else { "/nonexistent" }));
    let kinds = sysfs::core_types(&tree, &online, here)?;
    let mut cpus = Vec::with_capacity(objects.len());
    for object in objects {
        let Some(cpu) = number(object) else { continue };
        let package =
            object.first_ancestor_with_type(ObjectType::Package).and_then(number).unwrap_or(0);
        cpus.push(Cpu {
            cpu,
            package,
            die: sysfs::die(&tree, cpu)?,
            core_key: CoreKey::LowestCpu(lowest_sibling(object).unwrap_or(cpu)),
            node: lowest_node(object).unwrap_or(0),
            core_type: kinds.get(&cpu).copied().unwrap_or(CoreType::Uniform),
        });
    }
    let (offline, affinity) = if here {
        let affinity = affinity::unbound_mask()?;
        (sysfs::online_and_offline(&tree, Some(&affinity))?.1, Some(affinity))
    } else {
        (CpuSet::default(), None)
    };
    let (allowed, around) = sysfs::surroundings(&tree, &online, offline, affinity, Vec::new())?;
    Ok(assemble(cpus, &allowed, Topology { source: Source::Hwloc, ..around }))
}

fn load() -> Result<Hwloc> {
    // Includes contexts outside of the cpuset: they are shown, and refused with a reason.
    Hwloc::builder()
        .with_flags(BuildFlags::INCLUDE_DISALLOWED)
        .map_err(|error| failed(&one_line(&error.to_string())))?
        .build()
        .map_err(|error| failed(&one_line(&error.to_string())))
}

fn lowest_sibling(object: &TopologyObject) -> Option<u32> {
    let core = object.first_ancestor_with_type(ObjectType::Core)?;
    let lowest = core.cpuset()?.first_set()?;
    u32::try_from(usize::from(lowest)).ok()
}

fn lowest_node(object: &TopologyObject) -> Option<u32> {
    let lowest = object.nodeset()?.first_set()?;
    u32::try_from(usize::from(lowest)).ok()
}

fn number(object: &TopologyObject) -> Option<u32> {
    u32::try_from(object.os_index()?).ok().filter(|number| *number <= LAST_CPU)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cold]
fn failed(reason: &str) -> Error {
    Error::new(
        ErrorKind::System,
        format!(
            "cannot read the topology through hwloc: {reason}; use what /sys says (Topology::detect)"
        ),
    )
}
