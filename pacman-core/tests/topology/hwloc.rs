//! hwloc beside `/sys`, on the machine that runs the tests.

use pacman_core::Topology;

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

#[cfg(not(feature = "hwloc"))]
#[test]
fn a_build_without_hwloc_says_how_to_get_it() {
    let error = Topology::from_hwloc().unwrap_err();
    assert_eq!(error.kind(), pacman_core::ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "cannot read the topology through hwloc: this build left hwloc out; build pacman-core with --features \
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
