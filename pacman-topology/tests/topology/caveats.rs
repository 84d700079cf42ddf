//! Facts that a tree lacks, or has in two ways: an assumption is made, and a caveat has it.

use pacman_topology::CoreType;

use crate::tree::Tree;

const CPU: &str = "sys/devices/system/cpu/cpu";

/// Two cores of two contexts each, in one package.
fn tree() -> Tree {
    Tree::empty()
        .with("sys/devices/system/cpu/online", "0-3")
        .with("sys/devices/system/cpu/present", "0-3")
        .with(&format!("{CPU}[0-3]/topology/physical_package_id"), "0")
        .with(&format!("{CPU}[0-1]/topology/thread_siblings_list"), "0-1")
        .with(&format!("{CPU}[2-3]/topology/thread_siblings_list"), "2-3")
        .with("sys/devices/system/node/node0/cpulist", "0-3")
}

/// The only caveat of a tree.
fn caveat(tree: &Tree) -> String {
    let machine = tree.read();
    let [caveat] = machine.caveats() else { panic!("{:?}", machine.caveats()) };
    caveat.clone()
}

#[test]
fn a_plain_machine_has_none() {
    let same = tree()
        .with(&format!("{CPU}[0-3]/cache/index0/size"), "48K")
        .with(&format!("{CPU}[0-1]/cpufreq/cpuinfo_max_freq"), "4900000")
        .with(&format!("{CPU}[2-3]/cpufreq/cpuinfo_max_freq"), "5000000")
        .with("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse\n");
    assert_eq!(same.read().caveats(), [""; 0]);
}

/// Guests and copied trees lack the PMUs of a hybrid.
#[test]
fn cores_that_differ_without_a_named_type() {
    let with_flag = tree().with("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hybrid_cpu sse\n");
    assert!(caveat(&with_flag).contains("flags have hybrid_cpu"));
    let parts = "processor\t: 0\nCPU part\t: 0xd80\n\nprocessor\t: 1\nCPU part\t: 0xd85\n";
    assert!(caveat(&tree().with("proc/cpuinfo", parts)).contains("0xd80 and 0xd85"));
    for (index, level, name) in [(0, "1", "first-level"), (2, "2", "second-level")] {
        let caches = tree()
            .with(&format!("{CPU}[0-3]/cache/index{index}/level"), level)
            .with(&format!("{CPU}[0-1]/cache/index{index}/size"), "48K")
            .with(&format!("{CPU}[2-3]/cache/index{index}/size"), "32K");
        let told = caveat(&caches);
        assert!(told.contains(&format!("their {name} cache has 32K or 48K")), "{told}");
        assert!(!caches.read().is_hybrid() && told.contains("all count as one type"));
    }
    let clocks = tree()
        .with(&format!("{CPU}[0-1]/cpufreq/cpuinfo_max_freq"), "4700000")
        .with(&format!("{CPU}[2-3]/cpufreq/cpuinfo_max_freq"), "3500000");
    assert!(caveat(&clocks).contains("3500000 to 4700000 kHz"));
    // Where the PMUs name the types, the signs say nothing more.
    let named =
        with_flag.with("sys/devices/cpu_core/cpus", "0-1").with("sys/devices/cpu_atom/cpus", "2-3");
    assert!(named.read().is_hybrid() && named.read().caveats().is_empty());
    let one_left = named.with("sys/devices/cpu_atom/cpus", "");
    assert!(!one_left.read().is_hybrid());
}

#[test]
fn a_cpu_that_no_core_type_lists() {
    let part =
        tree().with("sys/devices/cpu_core/cpus", "0-1").with("sys/devices/cpu_atom/cpus", "2");
    assert!(caveat(&part).contains("no core type lists cpus 3"));
    assert_eq!(part.read().context(3).unwrap().core_type, CoreType::Efficiency, "as its core");
}

#[test]
fn numa_nodes_that_overlap_or_leave_cpus_out() {
    let overlap = tree()
        .with("sys/devices/system/node/node0/cpulist", "0-2")
        .with("sys/devices/system/node/node1/cpulist", "2-3");
    assert!(caveat(&overlap).contains("several NUMA nodes list cpus 2:"));
    let nodes = |tree: &Tree| tree.read().contexts().iter().map(|it| it.node).collect::<Vec<_>>();
    assert_eq!(nodes(&overlap), [0, 0, 0, 1]);
    let missing = tree().with("sys/devices/system/node/node0/cpulist", "0-1");
    assert!(caveat(&missing).contains("no NUMA node lists cpus 2,3"));
    // An offline CPU in two nodes, and a node of memory alone, concern nobody.
    let quiet = tree()
        .with("sys/devices/system/cpu/online", "0-1")
        .with("sys/devices/system/node/node1/cpulist", "3")
        .with("sys/devices/system/node/node2/cpulist", "");
    assert_eq!(quiet.read().caveats(), [""; 0]);
}

/// The list of online CPUs was read before CPU 3 went, its directory after.
#[test]
fn a_cpu_that_went_offline_during_the_reading() {
    let gone = tree()
        .without(&format!("{CPU}3/topology"))
        .with(&format!("{CPU}3/online"), "0")
        .with(&format!("{CPU}2/topology/thread_siblings_list"), "2");
    let machine = gone.read();
    assert_eq!((machine.offline().to_string(), machine.contexts().len()), ("3".into(), 3));
    assert_eq!(machine.caveats(), [""; 0]);
    // If it does not say so itself, it stays.
    let silent = gone.without(&format!("{CPU}3/online"));
    assert!(caveat(&silent).contains("no topology directory for cpus 3"));
}

#[test]
fn siblings_that_contradict_each_other() {
    let half = tree().with(&format!("{CPU}2/topology/thread_siblings_list"), "2");
    assert!(caveat(&half).contains("cpus 2 and their siblings list different cpus"));
    let without_itself = tree().with(&format!("{CPU}1/topology/thread_siblings_list"), "0");
    assert!(caveat(&without_itself).contains("different cpus for one core"));
    // A sibling that is offline is no contradiction.
    let offline = tree().with("sys/devices/system/cpu/online", "0-2");
    assert_eq!(offline.read().caveats(), [""; 0]);
}
