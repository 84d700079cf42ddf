//! hwloc beside `/sys`, on the machine that runs the tests.

use pacman_topology::Topology;

#[cfg(feature = "hwloc")]
#[test]
fn sysfs_and_hwloc_agree_on_this_system() {
    let (sysfs, hwloc) = (Topology::detect().unwrap(), Topology::from_hwloc().unwrap());
    assert!(hwloc.is_this_system());
    assert_eq!(hwloc.contexts(), sysfs.contexts());
    assert_eq!(hwloc.cores(), sysfs.cores());
    assert_eq!(hwloc.packages(), sysfs.packages());
    assert_eq!(hwloc.offline(), sysfs.offline());
    assert_eq!(hwloc.restrictions(), sysfs.restrictions());
    assert_eq!(hwloc.quota(), sysfs.quota());
    assert_eq!(hwloc.machine_name(), sysfs.machine_name());
    assert_eq!(hwloc.source().to_string(), "hwloc");
}

/// hwloc takes another root only from the environment, so each machine gets a process of its own.
#[cfg(feature = "hwloc")]
#[test]
fn sysfs_and_hwloc_agree_on_the_fixtures() {
    for machine in MACHINES {
        let tree = crate::tree::Tree::of(machine).with_masks();
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "hwloc::agrees_under_another_root"])
            .env("HWLOC_FSROOT", tree.root())
            .env("HWLOC_COMPONENTS", "linux,stop")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{machine}: {text}");
    }
}

#[cfg(feature = "hwloc")]
#[test]
#[ignore = "run by sysfs_and_hwloc_agree_on_the_fixtures with an environment of its own"]
fn agrees_under_another_root() {
    let root = std::env::var_os("HWLOC_FSROOT").unwrap();
    let sysfs = Topology::from_sysfs(root.as_ref()).unwrap();
    let hwloc = Topology::from_hwloc().unwrap();
    assert!(!hwloc.is_this_system());
    let facts = |machine: &Topology| -> Vec<[u32; 4]> {
        // hwloc sees no packages where the kernel numbers none, and orders cores as it finds them.
        let numbered = machine.packages().len() == hwloc.packages().len();
        let package = |number| if numbered { number } else { 0 };
        let core = |cpu| machine.siblings_of(cpu)[0];
        machine
            .contexts()
            .iter()
            .map(|c| [c.cpu, package(c.package), core(c.cpu), c.node])
            .collect()
    };
    assert_eq!(facts(&hwloc), facts(&sysfs));
}

#[cfg(feature = "hwloc")]
const MACHINES: [&str; 7] = [
    "core-i9-12900k",
    "opteron-two-dies",
    "power8-smt8",
    "xeon-e5-2660v2",
    "xeon-e5-2687wv4-smt-off",
    "xeon-phi-7250",
    "xeon-tulsa-holes",
];

#[cfg(not(feature = "hwloc"))]
#[test]
fn a_build_without_hwloc_says_how_to_get_it() {
    let error = Topology::from_hwloc().unwrap_err();
    assert_eq!(error.kind(), pacman_topology::ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "cannot read the topology through hwloc: this build left hwloc out; build pacman-topology with --features \
         hwloc, or use what /sys says"
    );
}

#[test]
fn this_system_is_what_the_kernel_says() {
    let here = Topology::detect().unwrap();
    assert!(here.is_this_system());
    assert_eq!(here.source().to_string(), "/sys");
    let online = std::thread::available_parallelism().unwrap().get();
    assert!(here.allowed().len() >= online, "a quota may lower what std counts, nothing raises it");
    for context in here.contexts() {
        let siblings = here.siblings_of(context.cpu);
        assert_eq!(siblings[context.sibling as usize], context.cpu);
    }
}
