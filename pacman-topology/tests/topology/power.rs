//! POWER machines of four and eight contexts a core, from a table of facts about real ones.
//!
//! A core's contexts have consecutive numbers from a multiple of their most. Fewer contexts a core, as `ppc64_cpu
//! --smt=2` leaves them, are the first ones of each, so that numbers have gaps.

use pacman_topology::{CacheKind, Place, Placement, Topology};

use crate::tree::Tree;

/// A machine's facts, with every context of its cores online.
struct Machine {
    model: &'static str,
    /// Contexts of a core.
    most: u32,
    /// Cores that share the caches of the second and third level.
    sharing: usize,
    packages: &'static [Package],
}

/// A package with its number in the kernel, its node, and the first CPU of each core.
struct Package {
    number: i32,
    node: u32,
    firsts: &'static [u32],
}

/// hwloc 3b37b02, `tests/hwloc/xml/power8gpudistances`: an IBM 8335-GTB. The dump has two contexts a core online.
const GTB: Machine = Machine {
    model: "POWER8NVL, altivec supported",
    most: 8,
    sharing: 1,
    packages: &[
        Package { number: 0, node: 0, firsts: &[0, 8, 16, 24] },
        Package { number: 1, node: 1, firsts: &[80, 88, 96, 104] },
    ],
};

/// hwloc 3b37b02, `tests/hwloc/linux/nvidiagpunumanodes`: an IBM 8335-GTW, four cores of each package. Nodes 250 to
/// 255 are memory of GPUs.
const GTW: Machine = Machine {
    model: "POWER9, altivec supported",
    most: 4,
    sharing: 2,
    packages: &[
        Package { number: 0, node: 0, firsts: &[0, 4, 8, 12] },
        Package { number: 8, node: 8, firsts: &[88, 92, 96, 100] },
    ],
};

/// libvirt, `tests/virhostcpudata/linux-subcores1` and `linux-deconf-cpus`: a POWER8 of 20 cores on four chips, whose
/// kernel numbers no packages.
const CHIPS: Machine = Machine {
    model: "POWER8 (raw), altivec supported",
    most: 8,
    sharing: 1,
    packages: &[
        Package { number: -1, node: 0, firsts: &[0, 8, 16, 24, 32] },
        Package { number: -1, node: 1, firsts: &[40, 48, 56, 64, 72] },
        Package { number: -1, node: 16, firsts: &[80, 88, 96, 104, 112] },
        Package { number: -1, node: 17, firsts: &[120, 128, 136, 144, 152] },
    ],
};

impl Machine {
    /// Its `/sys` with the first `contexts` of each core online.
    fn with_online(&self, contexts: u32) -> Tree {
        self.with_cores(contexts, |package| package.firsts.to_vec())
    }

    /// As [`with_online`](Self::with_online), with some of the cores. Masks of siblings have online CPUs alone.
    fn with_cores(&self, contexts: u32, cores: impl Fn(&Package) -> Vec<u32>) -> Tree {
        let cpu = "sys/devices/system/cpu";
        let of = |firsts: &[u32]| {
            let ranges: Vec<String> =
                firsts.iter().map(|first| format!("{first}-{}", first + contexts - 1)).collect();
            ranges.join(",")
        };
        let last = self.packages.last().unwrap();
        let present = last.firsts.last().unwrap() + self.most - 1;
        let mut tree = Tree::empty()
            .with("proc/cpuinfo", &format!("processor\t: 0\ncpu\t\t: {}", self.model))
            .with(&format!("{cpu}/present"), &format!("0-{present}"));
        let mut online = Vec::new();
        for package in self.packages {
            let kept = cores(package);
            let members = of(&kept);
            online.extend(Some(members.clone()).filter(|members| !members.is_empty()));
            tree = tree
                .with(&format!("sys/devices/system/node/node{}/cpulist", package.node), &members);
            for group in kept.chunks(self.sharing) {
                for &first in group {
                    let own = of(&[first]);
                    let files = format!("{cpu}/cpu[{own}]");
                    let number = package.number.to_string();
                    tree = tree
                        .with(&format!("{files}/topology/physical_package_id"), &number)
                        .with(&format!("{files}/topology/core_siblings_list"), &members)
                        .with(&format!("{files}/topology/thread_siblings_list"), &own)
                        .with(&format!("{files}/topology/core_id"), &(first + 8).to_string());
                    for (index, level, kind, size, shared) in [
                        (0, "1", "Data", "32K", own.clone()),
                        (1, "1", "Instruction", "32K", own.clone()),
                        (2, "2", "Unified", "512K", of(group)),
                        (3, "3", "Unified", "10240K", of(group)),
                    ] {
                        let cache = format!("{files}/cache/index{index}");
                        tree = tree
                            .with(&format!("{cache}/level"), level)
                            .with(&format!("{cache}/type"), kind)
                            .with(&format!("{cache}/size"), size)
                            .with(&format!("{cache}/shared_cpu_list"), &shared);
                    }
                }
            }
        }
        tree.with(&format!("{cpu}/online"), &online.join(",")).with_masks()
    }
}

fn cpus(machine: &Topology, placement: &Placement, threads: usize) -> Vec<u32> {
    placement.places(machine, threads).unwrap().iter().map(Place::cpu).collect()
}

#[test]
fn one_to_eight_contexts_a_core() {
    for contexts in [1, 2, 4, 8] {
        let machine = GTB.with_online(contexts).read();
        assert_eq!(machine.contexts().len() as u32, 8 * contexts);
        assert_eq!(machine.contexts_per_core() as u32, contexts);
        assert_eq!(machine.machine_name(), "POWER8NVL, altivec supported");
        let firsts = GTB.packages.iter().flat_map(|package| package.firsts);
        let cores: Vec<Vec<u32>> =
            firsts.map(|&first| (first..first + contexts).collect()).collect();
        let found: Vec<Vec<u32>> = machine.cores().iter().map(|core| core.cpus.clone()).collect();
        assert_eq!(found, cores);
        for core in &cores {
            for (sibling, &cpu) in core.iter().enumerate() {
                assert_eq!(machine.siblings_of(cpu), *core);
                assert_eq!(machine.context(cpu).unwrap().sibling, sibling as u32);
            }
        }
        let packages: Vec<_> =
            machine.packages().iter().map(|it| (it.package, it.cores.clone())).collect();
        assert_eq!(packages, [(0, 0..4), (1, 4..8)]);
        assert_eq!(machine.context(80).unwrap().node, 1);
        assert!((0..8 - contexts).all(|gap| machine.offline().contains(contexts + gap)));
        assert!(machine.context(contexts).is_none() || contexts == 8, "a gap in the numbers");
        assert_eq!(machine.caveats(), [""; 0]);
    }
}

#[test]
fn placement_by_contexts_a_core() {
    for contexts in [1, 2, 4, 8] {
        let machine = GTB.with_online(contexts).read();
        let one_each = [0, 8, 16, 24, 80, 88, 96, 104];
        assert_eq!(cpus(&machine, &Placement::OnePerCore, 8), one_each);
        let spread = [0, 80, 8, 88, 16, 96, 24, 104];
        assert_eq!(cpus(&machine, &Placement::Scatter, 8), spread);
        let all = 8 * contexts as usize;
        let filled: Vec<u32> = one_each.iter().flat_map(|&first| first..first + contexts).collect();
        assert_eq!(cpus(&machine, &Placement::Compact, all), filled);
        let rounds = |round| spread.map(|first| first + round);
        let scattered: Vec<u32> = (0..contexts).flat_map(rounds).collect();
        assert_eq!(cpus(&machine, &Placement::Scatter, all), scattered, "second siblings last");
        let together = Placement::SiblingsTogether.places(&machine, all);
        if contexts == 1 {
            assert!(together.is_err(), "no core has two contexts");
            continue;
        }
        let together: Vec<u32> = together.unwrap().iter().map(Place::cpu).collect();
        let whole: Vec<u32> = spread.iter().flat_map(|&first| first..first + contexts).collect();
        assert_eq!(together, whole);
        let half = contexts as usize / 2;
        assert!(Placement::SiblingsTogether.places(&machine, half).is_err(), "half a core");
    }
}

#[test]
fn nodes_and_packages_with_gaps_in_their_numbers() {
    let tree = GTW.with_online(4);
    let online = "0-15,88-103";
    // GPUs' memory. The list of a node has CPUs that are not present, and its mask has not.
    let tree = (250..=255).fold(tree, |tree, node| {
        let node = format!("sys/devices/system/node/node{node}");
        tree.with(&format!("{node}/cpulist"), "").with(&format!("{node}/cpumap"), "0000,00000000")
    });
    let tree = tree
        .with("sys/devices/system/cpu/present", online)
        .with("sys/devices/system/node/node0/cpulist", "0-87")
        .with("sys/devices/system/node/node8/cpulist", "88-175");
    let machine = tree.read();
    let packages: Vec<_> = machine.packages().iter().map(|it| it.package).collect();
    assert_eq!(packages, [0, 8]);
    assert!(machine.contexts().iter().all(|it| it.node == if it.cpu < 88 { 0 } else { 8 }));
    assert_eq!(machine.contexts().len(), 32);
    assert_eq!(machine.siblings_of(90), [88, 89, 90, 91]);
    assert_eq!(cpus(&machine, &Placement::Scatter, 4), [0, 88, 4, 92]);
    assert!(machine.offline().is_empty() && machine.caveats().is_empty());

    let caches = machine.caches().unwrap();
    let shared = |level, kind: CacheKind| -> Vec<String> {
        let of_kind = caches.iter().filter(|it| (it.level, it.kind) == (level, kind));
        of_kind.map(|it| it.cpus.to_string()).collect()
    };
    let pairs = ["0-7", "8-15", "88-95", "96-103"];
    assert_eq!(shared(3, CacheKind::Unified), pairs, "two cores of four contexts");
    assert_eq!(shared(2, CacheKind::Unified), pairs);
    assert_eq!(shared(1, CacheKind::Data).len(), 8);
}

#[test]
fn cpus_of_the_highest_node_number() {
    let node = "sys/devices/system/node";
    let tree = GTW.with_online(2).without(&format!("{node}/node8"));
    let machine = tree.with(&format!("{node}/node255/cpulist"), "88-89,92-93,96-97,100-101").read();
    assert_eq!(machine.context(89).unwrap().node, 255);
    assert_eq!(machine.context(1).unwrap().node, 0);
    assert_eq!(machine.contexts_per_core(), 2);
    assert_eq!(machine.caveats(), [""; 0]);
}

#[test]
fn smt_off_on_chips_without_package_numbers() {
    let machine = CHIPS.with_online(1).read();
    assert_eq!(machine.cores().len(), 20);
    assert!(machine.cores().iter().all(|core| core.cpus == [core.core * 8]));
    let chips: Vec<_> =
        machine.packages().iter().map(|it| (it.package, it.cores.clone())).collect();
    assert_eq!(chips, [(0, 0..5), (1, 5..10), (2, 10..15), (3, 15..20)]);
    let nodes: Vec<u32> = machine.cores().iter().step_by(5).map(|core| core.node).collect();
    assert_eq!(nodes, [0, 1, 16, 17]);
    assert_eq!(machine.offline().len(), 140);
    assert_eq!(cpus(&machine, &Placement::Scatter, 5), [0, 40, 80, 120, 8]);
}

/// Firmware withholds cores that it found broken: here half of them, and none of the first chip's first two.
#[test]
fn cores_that_firmware_withholds() {
    let left = [16, 24, 40, 48, 72, 104, 112, 120, 128, 136];
    let kept = |package: &Package| {
        package.firsts.iter().copied().filter(|first| left.contains(first)).collect()
    };
    for contexts in [1, 8] {
        let machine = CHIPS.with_cores(contexts, kept).read();
        let firsts: Vec<u32> = machine.cores().iter().map(|core| core.cpus[0]).collect();
        assert_eq!(firsts, left);
        let sizes: Vec<usize> = machine.packages().iter().map(|it| it.cores.len()).collect();
        assert_eq!(sizes, [2, 3, 2, 3]);
        assert_eq!(machine.contexts_per_core() as u32, contexts);
        assert_eq!(cpus(&machine, &Placement::OnePerCore, 10), left);
        assert!(machine.context(0).is_none(), "CPU 0 is withheld");
    }
}
