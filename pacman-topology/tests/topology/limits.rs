//! Restrictions by cgroups, in both of their versions, and how much may be read.

use std::time::Duration;

use pacman_topology::Restrictor;
use pacman_topology::{ErrorKind, Topology};

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

/// Copied trees have the list of mounts and the group's path from older files, and older names in the group.
#[test]
fn a_cpuset_is_found_by_older_files() {
    let all = || Tree::of("xeon-e5-2660v2");
    let cases = [
        ("none /dev/cpuset cpuset rw 0 0", "dev/cpuset/box/cpus"),
        ("none /dev/cpuset cgroup rw,relatime,cpuset,noprefix 0 0", "dev/cpuset/box/cpus"),
        ("none /old\\040set cgroup rw,cpuset 0 0", "old set/box/cpuset.cpus"),
        ("cgroup /sys/fs/cgroup cgroup2 rw 0 0", "sys/fs/cgroup/box/cpuset.cpus.effective"),
    ];
    for (mounts, file) in cases {
        let mounts = format!("proc /proc proc rw 0 0\n{mounts}");
        let tree = || {
            all().with("proc/self/cpuset", "/box").with("proc/mounts", &mounts).with(file, "3-5")
        };
        let machine = tree().read();
        assert_eq!(machine.allowed().to_string(), "3-5", "{mounts}");
        assert_eq!(machine.restrictions()[0].by, Restrictor::Cpuset(format!("/{file}")));
        // Newer files count where they are.
        let other = tree().with("proc/self/cgroup", "3:cpuset:/\n0::/").read();
        assert_eq!(other.allowed().len(), 40, "{mounts}");
        let elsewhere = "30 24 0:26 / /elsewhere rw - cgroup2 cgroup2 rw";
        let other = tree().with("proc/self/mountinfo", elsewhere).read();
        assert_eq!(other.allowed().len(), 40, "{mounts}");
    }
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

/// The processor time of this thread.
fn spent() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills in a time of ours.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) }, 0);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[test]
fn four_times_the_cpus_take_four_times_as_long_to_read() {
    let read = |cpus: u32| {
        let tree = Tree::empty().with("sys/devices/system/cpu/online", &format!("0-{}", cpus - 1));
        let before = spent();
        assert_eq!(tree.read().contexts().len(), cpus as usize);
        spent() - before
    };
    let (few, many) = (read(4_096), read(16_384));
    // 16 times and more, where each CPU is looked for among all the others.
    assert!(many < 9 * few, "{few:?} for 4,096 cpus, {many:?} for 16,384");
}

#[test]
fn more_than_any_kernel_has_is_refused() {
    let nodes = (0..3).fold(Tree::of("xeon-e5-2660v2"), |tree, node| {
        tree.with(&format!("sys/devices/system/node/node{node}/cpulist"), "0-32767")
    });
    let error = Topology::from_sysfs(nodes.root()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().ends_with("node2: the nodes list more cpus than there can be"));
    // A directory of a number that no CPU has, where directories are all there is.
    let machine = Tree::empty()
        .with("sys/devices/system/cpu/cpu0/online", "1")
        .with("sys/devices/system/cpu/cpu4000000000/online", "1")
        .read();
    assert_eq!(machine.contexts().len(), 1);
}
