//! Each fixture machine, in full.

use pacman_topology::{Context, CoreType, Source};
use pacman_topology::{ErrorKind, Topology};

use crate::tree::Tree;

/// `cpu package die core sibling node` of every context.
fn places(machine: &Topology) -> Vec<[u32; 6]> {
    let place = |c: &Context| [c.cpu, c.package, c.die, c.core, c.sibling, c.node];
    machine.contexts().iter().map(place).collect()
}

fn core_cpus(machine: &Topology) -> Vec<Vec<u32>> {
    machine.cores().iter().map(|core| core.cpus.clone()).collect()
}

fn package_numbers(machine: &Topology) -> Vec<u32> {
    machine.packages().iter().map(|package| package.package).collect()
}

#[test]
fn two_way_smt_server() {
    let tree = Tree::of("xeon-e5-2660v2");
    let machine = tree.read();
    let expected: Vec<[u32; 6]> = (0..40)
        .map(|cpu| {
            let package = cpu / 10 % 2;
            [cpu, package, 0, package * 10 + cpu % 10, cpu / 20, package]
        })
        .collect();
    assert_eq!(places(&machine), expected);
    assert_eq!(machine.siblings_of(17), [17, 37]);
    assert_eq!(machine.siblings_of(37), [17, 37]);
    assert_eq!(machine.contexts_per_core(), 2);
    assert_eq!(package_numbers(&machine), [0, 1]);
    assert_eq!(machine.packages()[1].cores, 10..20);
    assert_eq!(machine.machine_name(), "Intel(R) Xeon(R) CPU E5-2660 v2 @ 2.20GHz");
    assert!(machine.contexts().iter().all(|c| c.core_type == CoreType::Uniform && c.allowed));
    assert!(!machine.is_hybrid() && !machine.is_this_system());
    assert!(machine.offline().is_empty() && machine.restrictions().is_empty());
    assert!(machine.quota().is_none() && machine.caveats().is_empty());
    assert_eq!(*machine.source(), Source::Sysfs(tree.root().to_owned()));
}

#[test]
fn four_way_knights_landing() {
    let machine = Tree::of("xeon-phi-7250").read();
    let expected: Vec<[u32; 6]> = (0..272).map(|cpu| [cpu, 0, 0, cpu % 68, cpu / 68, 0]).collect();
    assert_eq!(places(&machine), expected);
    assert_eq!(machine.siblings_of(68), [0, 68, 136, 204]);
    assert_eq!(machine.contexts_per_core(), 4);
    assert_eq!((machine.packages().len(), machine.cores().len()), (1, 68));
}

#[test]
fn power8_with_siblings_offline() {
    let machine = Tree::of("power8-smt8").read();
    let smt8: Vec<u32> = (152..160).collect();
    let mut cores: Vec<Vec<u32>> =
        [8, 40, 48, 56, 68, 72, 80, 88, 96, 104, 112, 128, 136].map(|cpu| vec![cpu]).to_vec();
    cores.push(smt8.clone());
    assert_eq!(core_cpus(&machine), cores);
    assert_eq!(
        package_numbers(&machine),
        [0, 1, 2, 3],
        "the kernel numbers none, so they are counted"
    );
    let per_package: Vec<usize> = machine.packages().iter().map(|p| p.cores.len()).collect();
    assert_eq!(per_package, [1, 5, 5, 3]);
    let nodes: Vec<u32> = machine.cores().iter().map(|core| core.node).collect();
    assert_eq!(nodes, [0, 1, 1, 1, 1, 1, 16, 16, 16, 16, 16, 17, 17, 17]);
    assert_eq!(machine.siblings_of(155), smt8);
    let context = machine.context(158).unwrap();
    assert_eq!((context.package, context.core, context.sibling, context.node), (3, 13, 6, 17));
    assert_eq!(machine.contexts_per_core(), 8);
    assert_eq!(machine.offline().len(), 160 - 21);
    assert!(machine.offline().contains(64) && !machine.offline().contains(68));
    assert_eq!(machine.siblings_of(64), [] as [u32; 0]);
    assert_eq!(machine.machine_name(), "POWER8 (raw), altivec supported");
}

#[test]
fn hybrid_alder_lake() {
    let machine = Tree::of("core-i9-12900k").read();
    let expected: Vec<[u32; 6]> =
        (0..24)
            .map(|cpu| {
                if cpu < 16 { [cpu, 0, 0, cpu / 2, cpu % 2, 0] } else { [cpu, 0, 0, cpu - 8, 0, 0] }
            })
            .collect();
    assert_eq!(places(&machine), expected);
    assert!(machine.is_hybrid());
    for context in machine.contexts() {
        let kind = if context.cpu < 16 { CoreType::Performance } else { CoreType::Efficiency };
        assert_eq!(context.core_type, kind, "cpu {}", context.cpu);
    }
    assert_eq!(machine.siblings_of(16), [16]);
}

#[test]
fn hybrid_with_one_kind_switched_off_is_uniform() {
    let tree = Tree::of("core-i9-12900k").with("sys/devices/system/cpu/online", "0-15");
    let machine = tree.read();
    assert!(!machine.is_hybrid());
    assert!(machine.contexts().iter().all(|context| context.core_type == CoreType::Uniform));
    assert_eq!(machine.offline().to_string(), "16-23");
}

#[test]
fn low_power_cores_and_arm_capacities_are_kinds() {
    let tree = Tree::of("core-i9-12900k")
        .with("sys/devices/cpu_atom/cpus", "16-21")
        .with("sys/devices/cpu_lowpower/cpus", "22-23");
    assert_eq!(tree.read().context(22).unwrap().core_type, CoreType::LowPower);

    let arm = Tree::empty()
        .with("sys/devices/system/cpu/online", "0-3")
        .with("sys/devices/system/cpu/cpu[0-3]/topology/physical_package_id", "0")
        .with("sys/devices/system/cpu/cpu[0]/topology/thread_siblings_list", "0")
        .with("sys/devices/system/cpu/cpu[1]/topology/thread_siblings_list", "1")
        .with("sys/devices/system/cpu/cpu[2]/topology/thread_siblings_list", "2")
        .with("sys/devices/system/cpu/cpu[3]/topology/thread_siblings_list", "3")
        .with("sys/devices/system/cpu/cpu[0-1]/cpu_capacity", "446")
        .with("sys/devices/system/cpu/cpu[2-3]/cpu_capacity", "1024")
        .read();
    let kinds: Vec<CoreType> = arm.cores().iter().map(|core| core.core_type).collect();
    use CoreType::{Efficiency, Performance};
    assert_eq!(kinds, [Efficiency, Efficiency, Performance, Performance]);
}

/// The files of Linux 6.12 on an emulated Arm machine with two threads a core. The kernel has no die there, and numbers
/// packages and cores by their offsets in the firmware's table.
#[test]
fn arm_cores_of_two_threads() {
    let cpu = "sys/devices/system/cpu";
    let mut tree = Tree::empty()
        .with(&format!("{cpu}/online"), "0-3")
        .with(&format!("{cpu}/smt/active"), "1")
        .with(&format!("{cpu}/cpu[0-3]/topology/physical_package_id"), "36")
        .with(&format!("{cpu}/cpu[0-3]/topology/cluster_id"), "56")
        .with(&format!("{cpu}/cpu[0-3]/topology/cluster_cpus"), "f")
        .with(&format!("{cpu}/cpu[0-3]/topology/core_siblings"), "f")
        .with(&format!("{cpu}/cpu[0-3]/cpu_capacity"), "1024")
        .with(&format!("{cpu}/cpu[0-3]/regs/identification/midr_el1"), "0x000000004e0f0100");
    for (cpus, mask, id) in [("0-1", "3", "76"), ("2-3", "c", "176")] {
        tree = tree
            .with(&format!("{cpu}/cpu[{cpus}]/topology/thread_siblings"), mask)
            .with(&format!("{cpu}/cpu[{cpus}]/topology/core_id"), id);
    }
    let machine = tree.read();
    let expected =
        [[0, 36, 0, 0, 0, 0], [1, 36, 0, 0, 1, 0], [2, 36, 0, 1, 0, 0], [3, 36, 0, 1, 1, 0]];
    assert_eq!(places(&machine), expected);
    assert_eq!(machine.siblings_of(2), [2, 3]);
    assert_eq!(machine.contexts_per_core(), 2);
    assert!(!machine.is_hybrid(), "equal capacities");
    assert_eq!(machine.caveats(), [""; 0]);
}

#[test]
fn server_with_smt_off() {
    let machine = Tree::of("xeon-e5-2687wv4-smt-off").read();
    let expected: Vec<[u32; 6]> = (0..24).map(|cpu| [cpu, cpu / 12, 0, cpu, 0, cpu / 12]).collect();
    assert_eq!(places(&machine), expected);
    assert_eq!(machine.contexts_per_core(), 1);
}

#[test]
fn holes_in_cpu_numbers() {
    let machine = Tree::of("xeon-tulsa-holes").read();
    let expected = [
        [0, 0, 0, 0, 0, 0],
        [1, 1, 0, 2, 0, 0],
        [3, 3, 0, 5, 0, 0],
        [4, 0, 0, 1, 0, 0],
        [6, 2, 0, 3, 0, 0],
        [7, 3, 0, 6, 0, 0],
        [8, 0, 0, 0, 1, 0],
        [9, 1, 0, 2, 1, 0],
        [10, 2, 0, 4, 0, 0],
        [11, 3, 0, 5, 1, 0],
        [12, 0, 0, 1, 1, 0],
        [15, 3, 0, 6, 1, 0],
    ];
    assert_eq!(places(&machine), expected);
    assert_eq!(machine.offline().to_string(), "2,5,13,14");
    assert!(machine.context(2).is_none() && machine.context(16).is_none());
}

#[test]
fn core_ids_that_repeat_per_die_do_not_merge_cores() {
    let machine = Tree::of("opteron-two-dies").read();
    let nodes = [0, 1, 2, 33, 34, 45, 72, 73];
    let expected: Vec<[u32; 6]> =
        (0..48).map(|cpu| [cpu, cpu / 12, 0, cpu, 0, nodes[cpu as usize / 6]]).collect();
    assert_eq!(places(&machine), expected);
}

#[test]
fn core_ids_alone_tell_cores_apart_by_package_and_die() {
    let mut tree = Tree::empty().with("sys/devices/system/cpu/online", "0-15");
    for cpu in 0..16 {
        let (package, die, id) = (cpu / 8, cpu / 4 % 2, cpu % 2);
        let file = |name: &str| format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}");
        tree = tree
            .with(&file("physical_package_id"), &package.to_string())
            .with(&file("die_id"), &die.to_string())
            .with(&file("core_id"), &id.to_string());
    }
    let machine = tree.read();
    let expected =
        [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9, 11], [12, 14], [13, 15]].map(|c| c.to_vec());
    assert_eq!(core_cpus(&machine), expected);
    let dies: Vec<u32> = machine.cores().iter().map(|core| core.die).collect();
    assert_eq!(dies, [0, 0, 1, 1, 0, 0, 1, 1]);
}

#[test]
fn a_container_without_topology_directory_says_so() {
    let machine = Tree::empty().with("sys/devices/system/cpu/online", "0-2").read();
    assert_eq!(core_cpus(&machine), [[0], [1], [2]]);
    assert_eq!(
        machine.caveats(),
        ["the system does not tell which contexts share a core (no topology directory for cpus \
          0-2): each of them counts as a core of its own"]
    );
    assert_eq!(machine.machine_name(), "unknown processor");
}

#[test]
fn without_lists_the_cpu_directories_count() {
    let tree = Tree::of("core-i9-12900k")
        .without("sys/devices/system/cpu/online")
        .without("sys/devices/system/cpu/present")
        .with("sys/devices/system/cpu/cpu[1-23]/online", "1")
        .with("sys/devices/system/cpu/cpu[5]/online", "0");
    let machine = tree.read();
    assert_eq!(machine.contexts().len(), 23);
    assert_eq!(machine.offline().to_string(), "5");
    assert_eq!(machine.siblings_of(4), [4], "the kernel's list may still name an offline sibling");
}

#[test]
fn sys_itself_is_as_good_a_root() {
    let tree = Tree::of("core-i9-12900k");
    let whole = tree.read();
    assert_eq!(Topology::from_sysfs(&tree.root().join("sys")).unwrap(), whole);
}

#[test]
fn trees_that_cannot_be_read_are_named() {
    let tree = Tree::empty();
    let error = Topology::from_sysfs(tree.root()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::System);
    assert_eq!(
        error.to_string(),
        format!(
            "cannot read the topology under {}: no cpu is listed in sys/devices/system/cpu; name the \
             directory that holds sys",
            tree.root().display()
        )
    );

    let tree =
        Tree::of("core-i9-12900k").with("sys/devices/system/cpu/cpu[3]/topology/core_id", "three");
    let tree = tree.with("sys/devices/system/cpu/cpu[3]/topology/die_id", "one");
    let error = Topology::from_sysfs(tree.root()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        error.to_string(),
        format!(
            "cannot read the topology from {}/sys/devices/system/cpu/cpu3/topology/die_id: \"one\" is not a \
             number",
            tree.root().display()
        )
    );
}
