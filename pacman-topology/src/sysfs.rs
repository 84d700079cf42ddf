//! Reads the topology from `/sys`, of this system or of a copied tree.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use pacman_events::shown::shown_path;

use crate::affinity;
use crate::assemble::{CoreKey, Cpu, assemble};
use crate::cpu_bits::{CpuBits, LAST_CPU};
use crate::input::{self, MOST_BYTES};
use crate::restriction::{Restriction, Restrictor};
use crate::tree::Tree;
use crate::{CoreType, CpuSet, Source, Topology, amd_core_types, cgroup, core_type, uneven};
use pacman_events::{Error, ErrorKind, Result};

pub(crate) fn detect() -> Result<Topology> {
    let tree = Tree::under(Path::new("/"));
    settled(|| tree.set(ONLINE), || read(&tree, Some(affinity::unbound_mask()?)))
}

pub(crate) fn from_tree(root: &Path) -> Result<Topology> {
    let tree = Tree::under(root);
    settled(|| tree.set(ONLINE), || read(&tree, None))
}

/// The list of online CPUs.
const ONLINE: &str = "devices/system/cpu/online";

/// Reads again if CPUs went on- or offline meanwhile: files of two states make cores that never were.
fn settled(
    online: impl Fn() -> Result<Option<CpuSet>>,
    read: impl Fn() -> Result<Topology>,
) -> Result<Topology> {
    const TRIES: u32 = 3;
    let mut before = online()?;
    for _ in 0..TRIES {
        let machine = read();
        let after = online()?;
        if after == before {
            return machine;
        }
        before = after;
    }
    let mut machine = read()?;
    machine.caveats.push(format!(
        "cpus went on- or offline each of the {TRIES} times that the topology was read: cores may \
         lack some of theirs"
    ));
    Ok(machine)
}

/// Reads a tree. With the thread's affinity mask, it is this system's.
fn read(tree: &Tree, affinity: Option<CpuSet>) -> Result<Topology> {
    let (mut online, mut offline) = online_and_offline(tree, affinity.as_ref())?;
    let gone: CpuSet = online.iter().filter(|cpu| is_gone(tree, *cpu)).collect();
    if !gone.is_empty() && gone.len() < online.len() {
        online = online.difference(&gone);
        offline = offline.iter().chain(gone.iter()).collect();
    }
    let mut caveats = Vec::new();
    let cpus = read_cpus(tree, &online, affinity.is_some(), &mut caveats)?;
    let (allowed, bare) = surroundings(tree, &online, offline, affinity, caveats)?;
    let mut machine = assemble(cpus, &allowed, bare);
    let is_named = TYPES.iter().any(|(unit, _)| tree.has(&format!("devices/{unit}")));
    if !machine.is_hybrid() && !is_named {
        machine.caveats.extend(uneven::caveat(tree, &machine.cores)?);
    }
    Ok(machine)
}

/// Whether a CPU of the online list went offline since: it has no place any more, and says so itself.
fn is_gone(tree: &Tree, cpu: u32) -> bool {
    let directory = format!("devices/system/cpu/cpu{cpu}");
    !tree.has(&format!("{directory}/topology"))
        && tree.text(&format!("{directory}/online")).as_deref() == Some("0")
}

/// Reads everything but the contexts: limits, names and offline CPUs; and the allowed CPUs.
pub(crate) fn surroundings(
    tree: &Tree,
    online: &CpuSet,
    offline: CpuSet,
    affinity: Option<CpuSet>,
    mut caveats: Vec<String>,
) -> Result<(CpuSet, Topology)> {
    let this_system = affinity.is_some();
    let mut restrictions = Vec::new();
    let mut left = online.clone();
    if let Some((file, cpus)) = cgroup::cpuset(tree)? {
        let cpus = online.intersection(&cpus);
        // A cpuset without any of these CPUs belongs to another view of the machine.
        if !cpus.is_empty() && cpus != *online {
            left = cpus.clone();
            restrictions.push(Restriction { by: Restrictor::Cpuset(file), cpus });
        }
    }
    if let Some(affinity) = affinity {
        // The kernel has limited the mask to the cpuset already, so the mask decides.
        let cpus = online.intersection(&affinity);
        if !left.difference(&cpus).is_empty() {
            restrictions.push(Restriction { by: Restrictor::Affinity, cpus: cpus.clone() });
        }
        left = cpus;
    }
    let machine_name = machine_name(tree, &mut caveats);
    let machine = Topology {
        offline,
        restrictions,
        quota: cgroup::quota(tree),
        caveats,
        ..Topology::bare(machine_name, Source::Sysfs(tree.root.clone()), this_system)
    };
    Ok((left, machine))
}

/// The online CPUs, and the CPUs that are present but offline.
pub(crate) fn online_and_offline(
    tree: &Tree,
    affinity: Option<&CpuSet>,
) -> Result<(CpuSet, CpuSet)> {
    let directories = tree.numbered("devices/system/cpu", "cpu");
    let present = match tree.set("devices/system/cpu/present")? {
        Some(present) => present,
        None => directories.clone(),
    };
    let listed = match tree.set(ONLINE)? {
        Some(online) => online,
        None => directories
            .iter()
            .filter(|cpu| {
                tree.text(&format!("devices/system/cpu/cpu{cpu}/online"))
                    .is_none_or(|text| text != "0")
            })
            .collect(),
    };
    // Containers may hide CPUs in the list, but a CPU in the affinity mask is online.
    let online = affinity.map_or(listed.clone(), |cpus| listed.iter().chain(cpus.iter()).collect());
    if online.is_empty() {
        return Err(Error::new(
            ErrorKind::System,
            format!(
                "cannot read the topology under {}: no cpu is listed in sys/devices/system/cpu; \
                 name the directory that holds sys",
                shown_path(&tree.root)
            ),
        ));
    }
    let offline = present.difference(&online);
    Ok((online, offline))
}

fn read_cpus(
    tree: &Tree,
    online: &CpuSet,
    is_here: bool,
    caveats: &mut Vec<String>,
) -> Result<Vec<Cpu>> {
    let nodes = nodes(tree, online, caveats)?;
    let kinds = core_types(tree, online, is_here)?;
    let members = online.iter().collect::<CpuBits>();
    let mut lone = Vec::new();
    let mut unnumbered: BTreeMap<u32, u32> = BTreeMap::new();
    let mut cpus = Vec::with_capacity(online.len());
    let mut claimed: BTreeMap<u32, Vec<(u32, bool, usize)>> = BTreeMap::new();
    for cpu in online.iter() {
        let file = |name: &str| format!("devices/system/cpu/cpu{cpu}/topology/{name}");
        let die = die(tree, cpu)?;
        let package = match tree.number::<i64>(&file("physical_package_id"))?.map(u32::try_from) {
            Some(Ok(package)) => package,
            // The kernel writes -1 where firmware numbers no packages: tell them apart by members.
            _ => {
                let members = tree.first_bits(&file("package_cpus"), &file("core_siblings"))?;
                let lowest = members.and_then(|members| members.iter().next()).unwrap_or(0);
                let next = unnumbered.len() as u32;
                *unnumbered.entry(lowest).or_insert(next)
            }
        };
        let siblings = tree.first_bits(&file("core_cpus"), &file("thread_siblings"))?;
        let core_id = tree.number::<i64>(&file("core_id"))?.and_then(|id| u32::try_from(id).ok());
        let core_key = match (siblings, core_id) {
            (Some(siblings), _) => {
                let lowest = siblings.first_common(&members).unwrap_or(cpu).min(cpu);
                let core = claimed.entry(lowest).or_default();
                core.push((cpu, siblings.contains(cpu), siblings.count_common(&members)));
                CoreKey::LowestCpu(lowest)
            }
            (None, Some(id)) => CoreKey::Id { package, die, id },
            (None, None) => {
                lone.push(cpu);
                CoreKey::LowestCpu(cpu)
            }
        };
        cpus.push(Cpu {
            cpu,
            package,
            die,
            core_key,
            node: nodes.get(&cpu).copied().unwrap_or(0),
            core_type: kinds.get(&cpu).copied().unwrap_or(CoreType::Uniform),
        });
    }
    let odd = contradictory(&claimed);
    if !odd.is_empty() {
        caveats.push(format!(
            "cpus {odd} and their siblings list different cpus for one core: the lowest cpu that \
             each lists names its core"
        ));
    }
    let untyped: CpuSet = online.iter().filter(|cpu| !kinds.contains_key(cpu)).collect();
    if !kinds.is_empty() && !untyped.is_empty() {
        caveats
            .push(format!("no core type lists cpus {untyped}: they count as a type of their own"));
    }
    if !lone.is_empty() {
        let lone: CpuSet = lone.into_iter().collect();
        caveats.push(format!(
            "the system does not tell which contexts share a core (no topology directory for cpus \
             {lone}): each of them counts as a core of its own"
        ));
    }
    Ok(cpus)
}

/// The CPUs whose list of siblings lacks themselves or is not the one of their core. `claimed` has, by
/// core, each CPU, whether its list has itself, and how many online CPUs its list has.
fn contradictory(claimed: &BTreeMap<u32, Vec<(u32, bool, usize)>>) -> CpuSet {
    let odd = |core: &Vec<(u32, bool, usize)>| {
        let count = core.len();
        let odd = core.iter().filter(move |(_, itself, listed)| !itself || *listed != count);
        odd.map(|(cpu, ..)| *cpu).collect::<Vec<_>>()
    };
    claimed.values().flat_map(odd).collect()
}

/// The die of a CPU; 0 if the kernel names none.
pub(crate) fn die(tree: &Tree, cpu: u32) -> Result<u32> {
    let id = tree.number::<i64>(&format!("devices/system/cpu/cpu{cpu}/topology/die_id"))?;
    Ok(id.and_then(|id| u32::try_from(id).ok()).unwrap_or(0))
}

/// The NUMA node of each CPU: the lowest that lists it.
fn nodes(tree: &Tree, online: &CpuSet, caveats: &mut Vec<String>) -> Result<BTreeMap<u32, u32>> {
    let (mut nodes, mut listed) = (BTreeMap::new(), 0);
    let mut several = Vec::new();
    for node in tree.numbered("devices/system/node", "node").iter() {
        let directory = format!("devices/system/node/node{node}");
        let members = match tree.set(&format!("{directory}/cpulist"))? {
            Some(members) => members,
            None => tree.mask(&format!("{directory}/cpumap"))?.unwrap_or_default(),
        };
        listed += members.len();
        if listed > LAST_CPU as usize + 1 {
            return Err(tree.malformed(&directory, "the nodes list more cpus than there can be"));
        }
        for cpu in members.iter() {
            if *nodes.entry(cpu).or_insert(node) != node && online.contains(cpu) {
                several.push(cpu);
            }
        }
    }
    if !several.is_empty() {
        let several: CpuSet = several.into_iter().collect();
        caveats.push(format!(
            "several NUMA nodes list cpus {several}: each counts to the lowest of its nodes"
        ));
    }
    let without: CpuSet = online.iter().filter(|cpu| !nodes.contains_key(cpu)).collect();
    if !nodes.is_empty() && !without.is_empty() {
        caveats.push(format!("no NUMA node lists cpus {without}: they count to node 0"));
    }
    Ok(nodes)
}

/// The PMUs by which Linux names the core types of Intel.
const TYPES: [(&str, CoreType); 3] = [
    ("cpu_core", CoreType::Performance),
    ("cpu_atom", CoreType::Efficiency),
    ("cpu_lowpower", CoreType::LowPower),
];

/// The type of each CPU on a machine that mixes core types; empty on other machines.
///
/// `is_here` says that the tree is this system's, so that CPUID describes its cores.
pub(crate) fn core_types(
    tree: &Tree,
    online: &CpuSet,
    is_here: bool,
) -> Result<BTreeMap<u32, CoreType>> {
    let mut kinds = BTreeMap::new();
    for (unit, kind) in TYPES {
        let members = tree.set(&format!("devices/{unit}/cpus"))?.unwrap_or_default();
        kinds.extend(members.intersection(online).iter().map(|cpu| (cpu, kind)));
    }
    if kinds.is_empty() && is_here {
        kinds = amd_core_types::here(online);
    }
    if kinds.is_empty() {
        let mut capacities = BTreeMap::new();
        for cpu in online.iter() {
            if let Some(capacity) =
                tree.number(&format!("devices/system/cpu/cpu{cpu}/cpu_capacity"))?
            {
                capacities.insert(cpu, capacity);
            }
        }
        return Ok(core_type::from_capacities(&capacities));
    }
    // If all cores of one type are offline, the others have one type.
    let mut found = kinds.values();
    let first = found.next();
    if found.all(|kind| Some(kind) == first) {
        kinds.clear();
    }
    Ok(kinds)
}

/// The model name in the first record that has one. The file has a record for each context, which the
/// kernel writes as far as it is read.
fn model_name(cpuinfo: &Path) -> Option<String> {
    let mut lines = BufReader::new(input::open_regular(cpuinfo).ok()?.take(MOST_BYTES)).lines();
    lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        let value = value.trim();
        (key.trim() == "model name" && !value.is_empty()).then(|| value.to_owned())
    })
}

fn machine_name(tree: &Tree, caveats: &mut Vec<String>) -> String {
    let file = tree.proc_file("cpuinfo");
    if let Some(name) = model_name(&file) {
        return name;
    }
    let cpuinfo = input::open_regular(&file).and_then(|file| input::text_of(file, MOST_BYTES));
    let cpuinfo = cpuinfo.unwrap_or_else(|error| {
        // A tree that was copied without this file has no name for its machine.
        if error.kind() != io::ErrorKind::NotFound {
            caveats.push(format!(
                "cannot read {}: {error}; the processor's name is not known",
                shown_path(&file)
            ));
        }
        String::new()
    });
    for wanted in ["model name", "cpu", "cpu model", "Model"] {
        for line in cpuinfo.lines() {
            if let Some((key, value)) = line.split_once(':') {
                if key.trim() == wanted && !value.trim().is_empty() {
                    return value.trim().to_owned();
                }
            }
        }
    }
    ["firmware/devicetree/base/model", "class/dmi/id/product_name"]
        .into_iter()
        .find_map(|path| tree.text(path))
        .unwrap_or_else(|| "unknown processor".to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn on_nothing_but_a_mask(mask: &str) -> Topology {
        let nowhere = Tree::under(Path::new("/nonexistent"));
        read(&nowhere, Some(CpuSet::from_list(mask).unwrap())).unwrap()
    }

    #[test]
    fn without_sys_the_affinity_mask_tells_what_there_is() {
        let machine = on_nothing_but_a_mask("2-3,1040");
        let cpus: Vec<u32> = machine.contexts().iter().map(|context| context.cpu).collect();
        assert_eq!(cpus, [2, 3, 1040]);
        assert!(machine.is_this_system() && machine.restrictions().is_empty());
        assert_eq!(machine.contexts_per_core(), 1);
        assert_eq!(machine.caveats().len(), 1);
    }

    #[test]
    fn a_cpu_in_the_mask_is_online_whatever_a_container_lists() {
        let root = std::env::temp_dir().join(format!("pacman-sysfs-{}", std::process::id()));
        let cpus = root.join("sys/devices/system/cpu");
        fs::create_dir_all(&cpus).unwrap();
        fs::write(cpus.join("online"), "0-1\n").unwrap();
        let machine = read(&Tree::under(&root), Some(CpuSet::from_list("0,6").unwrap()));
        fs::remove_dir_all(&root).unwrap();
        let machine = machine.unwrap();
        let cpus: CpuSet = machine.contexts().iter().map(|context| context.cpu).collect();
        assert_eq!(cpus.to_string(), "0,1,6");
        assert_eq!(machine.allowed().to_string(), "0,6");
        let more = machine.allowing(&CpuSet::from_list("1,9").unwrap());
        assert_eq!(more.allowed().to_string(), "0,1,6", "no CPU 9 is listed");
    }

    #[test]
    fn a_topology_that_changed_while_it_was_read_is_read_again() {
        let nowhere = Tree::under(Path::new("/nonexistent"));
        let of = |cpus: &str| read(&nowhere, Some(CpuSet::from_list(cpus).unwrap()));
        for (lists, reads, unsettled) in [
            (&["0-3", "0-3"][..], 1, false),
            (&["0-3", "0-2", "0-2"], 2, false),
            (&["0-3", "0-2", "0-3", "0-2"], 4, true),
        ] {
            let (list, count) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
            let online = || {
                let at = list.replace(list.get() + 1);
                CpuSet::from_list(lists[at]).map(Some)
            };
            let machine = settled(online, || {
                count.set(count.get() + 1);
                of("0-1")
            });
            let caveats = machine.unwrap().caveats.join(" ");
            assert_eq!(count.get(), reads, "{lists:?}");
            assert_eq!(caveats.contains("went on- or offline"), unsettled, "{lists:?}: {caveats}");
        }
    }

    #[test]
    fn a_mask_within_the_online_cpus_is_a_restriction() {
        let online = CpuSet::from_list("0-7").unwrap();
        let mask = CpuSet::from_list("4-5").unwrap();
        let nowhere = Tree::under(Path::new("/nonexistent"));
        let (allowed, machine) =
            surroundings(&nowhere, &online, CpuSet::default(), Some(mask.clone()), Vec::new())
                .unwrap();
        assert_eq!(allowed, mask);
        assert_eq!(machine.restrictions, [Restriction { by: Restrictor::Affinity, cpus: mask }]);
    }
}
