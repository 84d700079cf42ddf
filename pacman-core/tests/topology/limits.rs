//! What cgroups take away, in both of their versions.

use pacman_core::topology::Restrictor;

use crate::tree::Tree;

#[test]
fn version_2_cpuset_restricts_and_is_named() {
    let machine = Tree::of("xeon-e5-2660v2")
        .with("proc/self/cgroup", "0::/job/step")
        .with("sys/fs/cgroup/cpuset.cpus.effective", "0-39")
        .with("sys/fs/cgroup/job/cpuset.cpus.effective", "0-3,20-23")
        .read();
    assert_eq!(machine.allowed().to_string(), "0-3,20-23");
    assert_eq!(machine.contexts().len(), 40, "the others are there, only not allowed");
    let [restriction] = machine.restrictions() else { panic!("{:?}", machine.restrictions()) };
    assert_eq!(
        restriction.by,
        Restrictor::Cpuset("/sys/fs/cgroup/job/cpuset.cpus.effective".to_owned())
    );
    assert_eq!(restriction.cpus.to_string(), "0-3,20-23");
}

#[test]
fn version_1_cpuset_is_found_under_its_own_mount() {
    let machine = Tree::of("xeon-e5-2660v2")
        .with("proc/self/cgroup", "3:cpuset:/docker/4711\n1:name=systemd:/\n0::/")
        .with("sys/fs/cgroup/cpuset/cpuset.cpus", "8")
        .read();
    assert_eq!(
        machine.allowed().to_string(),
        "8",
        "a container sees its own group as the mount's root"
    );
    let by = &machine.restrictions()[0].by;
    assert_eq!(by.to_string(), "the cpuset in /sys/fs/cgroup/cpuset/cpuset.cpus");
}

#[test]
fn the_effective_set_counts_where_version_1_tells_it() {
    let machine = Tree::of("xeon-e5-2660v2")
        .with("proc/self/cgroup", "3:cpuset:/a")
        .with("sys/fs/cgroup/cpuset/a/cpuset.cpus", "0-7")
        .with("sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "0-5")
        .read();
    assert_eq!(machine.allowed().to_string(), "0-5");
}

#[test]
fn a_cpuset_with_all_cpus_or_none_of_ours_restricts_nobody() {
    for cpus in ["0-39", "0-127", "200-207"] {
        let machine = Tree::of("xeon-e5-2660v2")
            .with("proc/self/cgroup", "0::/")
            .with("sys/fs/cgroup/cpuset.cpus.effective", cpus)
            .read();
        assert_eq!(machine.allowed().len(), 40, "{cpus}");
        assert!(machine.restrictions().is_empty(), "{cpus}");
    }
}

#[test]
fn the_tightest_quota_on_the_way_out_is_reported() {
    let machine = Tree::of("xeon-e5-2660v2")
        .with("proc/self/cgroup", "0::/pod/box")
        .with("sys/fs/cgroup/pod/cpu.max", "250000 100000")
        .with("sys/fs/cgroup/pod/box/cpu.max", "max 100000")
        .read();
    let quota = machine.quota().unwrap();
    assert_eq!((quota.micros, quota.period_micros), (250_000, 100_000));
    assert_eq!(quota.cpus(), 2.5);
    assert_eq!(
        quota.to_string(),
        "2.50 cpus' worth of time (250000 of 100000 us, /sys/fs/cgroup/pod/cpu.max)"
    );
    assert_eq!(machine.allowed().len(), 40, "a quota takes no context away");
}

#[test]
fn version_1_quota_and_its_absence() {
    let tree = Tree::of("xeon-e5-2660v2")
        .with("proc/self/cgroup", "4:cpu,cpuacct:/box")
        .with("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "50000")
        .with("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000");
    assert_eq!(tree.read().quota().unwrap().cpus(), 0.5);
    let tree = tree.with("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1");
    assert_eq!(tree.read().quota(), None);
}

#[test]
fn a_group_outside_the_namespace_falls_back_to_the_mount() {
    let machine = Tree::of("xeon-e5-2660v2")
        .with("proc/self/cgroup", "0::/../../other")
        .with("sys/fs/cgroup/cpuset.cpus.effective", "4-7")
        .read();
    assert_eq!(machine.allowed().to_string(), "4-7");
}
