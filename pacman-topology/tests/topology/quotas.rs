//! Quotas of CPU time: wherever control groups are mounted, and in a group of this system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use pacman_suite::skipped;
use pacman_topology::{Quota, Topology};

use crate::tree::Tree;

/// A machine of 40 CPUs whose process is in these groups, below these mounts.
fn machine(groups: &str, mounts: &str) -> Tree {
    Tree::of("xeon-e5-2660v2").with("proc/self/cgroup", groups).with("proc/self/mountinfo", mounts)
}

#[test]
fn effective_contexts_are_those_allowed_or_the_quota_rounded_up() {
    let tree = || machine("0::/box", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
    let with = |limit: &str| tree().with("sys/fs/cgroup/box/cpu.max", limit).read();
    let cases =
        [("400000 100000", 4), ("50000 100000", 1), ("410000 100000", 5), ("1000 1000000", 1)];
    for (limit, threads) in cases {
        assert_eq!(with(limit).effective_contexts(), threads, "{limit}");
    }
    for limit in ["max 100000", "9000000 100000"] {
        assert_eq!(with(limit).effective_contexts(), 40, "{limit}");
    }
    let bound = tree()
        .with("sys/fs/cgroup/box/cpu.max", "400000 100000")
        .with("sys/fs/cgroup/box/cpuset.cpus.effective", "0-2");
    assert_eq!(bound.read().effective_contexts(), 3);
}

#[test]
fn a_hierarchy_is_found_where_it_is_mounted() {
    let mounts = "20 1 0:19 / /dev/control\\040groups rw,relatime shared:9 master:1 - cgroup cgroup rw,cpuacct,cpu\n\
                  21 1 0:20 / /old/set rw - cgroup cgroup rw,cpuset\n\
                  22 1 0:21 / /proc rw - proc proc rw";
    let machine = machine("7:cpu,cpuacct:/a/b\n3:cpuset:/c", mounts)
        .with("dev/control groups/a/cpu.cfs_quota_us", "150000")
        .with("dev/control groups/a/cpu.cfs_period_us", "100000")
        .with("dev/control groups/a/b/cpu.cfs_quota_us", "-1")
        .with("dev/control groups/a/b/cpu.cfs_period_us", "100000")
        .with("old/set/c/cpuset.cpus", "0-9")
        .read();
    let quota = machine.quota().unwrap();
    assert_eq!((quota.cpus(), quota.threads()), (1.5, 2));
    assert_eq!(quota.file, "/dev/control groups/a/cpu.cfs_quota_us");
    assert_eq!(machine.allowed().to_string(), "0-9");
}

#[test]
fn a_mount_of_one_group_shows_that_group_at_its_root() {
    // A container without a namespace of its own: the kernel tells the machine's paths.
    let mounts = "30 24 0:26 /docker/4711 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu";
    let machine = machine("4:cpu:/docker/4711/job", mounts)
        .with("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000")
        .with("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
        .with("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "700000")
        .with("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000")
        .read();
    assert_eq!(machine.quota().unwrap().file, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    assert_eq!(machine.effective_contexts(), 3);
}

#[test]
fn a_namespace_that_hides_the_way_leaves_the_mount() {
    for (group, root) in [("/../../other", "/"), ("/", "/.."), ("/../box", "/../..")] {
        let mounts = format!("30 24 0:26 {root} /sys/fs/cgroup rw - cgroup2 cgroup rw");
        let machine = machine(&format!("0::{group}"), &mounts)
            .with("sys/fs/cgroup/cpu.max", "200000 100000")
            .read();
        assert_eq!(machine.effective_contexts(), 2, "{group} below {root}");
    }
}

#[test]
fn on_a_hybrid_mount_the_tightest_of_both_versions_counts() {
    let mounts = "30 24 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                  31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                  32 24 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd";
    let tree = machine("3:cpu,cpuacct:/a\n1:name=systemd:/s\n0::/s", mounts)
        .with("sys/fs/cgroup/unified/s/cpu.max", "600000 100000")
        .with("sys/fs/cgroup/systemd/s/cpu.cfs_quota_us", "100000")
        .with("sys/fs/cgroup/systemd/s/cpu.cfs_period_us", "100000");
    assert_eq!(tree.read().effective_contexts(), 6);
    let tree = tree
        .with("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "200000")
        .with("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
    assert_eq!(tree.read().effective_contexts(), 2);
}

#[test]
fn both_versions_tell_how_long_a_group_stood_still() {
    let mounts = "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
    let tree = machine("0::/box", mounts).with("sys/fs/cgroup/box/cpu.max", "50000 100000").with(
        "sys/fs/cgroup/box/cpu.stat",
        "usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 250",
    );
    let machine_2 = tree.read();
    let before = machine_2.throttling().unwrap();
    assert_eq!(
        (before.periods, before.throttled_periods, before.throttled_nanos),
        (10, 4, 250_000)
    );
    let stat = "nr_periods 30\nnr_throttled 5\nthrottled_usec 251";
    let _tree = tree.with("sys/fs/cgroup/box/cpu.stat", stat);
    let run = machine_2.throttling().unwrap().since(before);
    assert_eq!((run.periods, run.throttled_periods, run.throttled_nanos), (20, 1, 1_000));

    let mounts = "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu";
    let tree = machine("4:cpu:/box", mounts)
        .with("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000")
        .with("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000")
        .with("sys/fs/cgroup/cpu/box/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 77");
    let account = tree.read().throttling().unwrap();
    assert_eq!((account.periods, account.throttled_periods, account.throttled_nanos), (3, 2, 77));
}

/// A group of this system with a quota, which goes away with the value.
struct Group(PathBuf);

impl Group {
    /// `None` if none can be made here.
    fn with_half_a_cpu() -> Option<Group> {
        let name = format!("pacman-quota-{}", std::process::id());
        for (parent, file, text) in [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "50000"),
            ("/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", "50000"),
            ("/sys/fs/cgroup", "cpu.max", "50000 100000"),
        ] {
            let directory = Path::new(parent).join(&name);
            if fs::create_dir(&directory).is_err() {
                continue;
            }
            let group = Group(directory);
            if group.0.join(file).exists() && fs::write(group.0.join(file), text).is_ok() {
                return Some(group);
            }
        }
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel removes its files with it. A member that ends leaves a moment later.
        let end = Instant::now() + Duration::from_secs(5);
        while fs::remove_dir(&self.0).is_err() && Instant::now() < end {
            std::thread::yield_now();
        }
    }
}

/// Runs in the group, as a child of the test below.
#[test]
#[ignore = "the test below runs it in a group of its own"]
fn inside_a_group() {
    let here = Topology::detect().unwrap();
    let quota = here.quota().expect("the group has a quota");
    assert_eq!((quota.cpus(), here.effective_contexts()), (0.5, 1), "{quota}");
    assert_eq!(Quota::of_this_process().as_ref(), Some(quota));
    let before = quota.throttling().expect("the group has an account");
    let begun = Instant::now();
    // Half of a CPU is too little for one that never waits.
    loop {
        let run = here.throttling().unwrap().since(before);
        if run.throttled_periods >= 2 && run.throttled_nanos > 0 {
            assert!(run.periods >= run.throttled_periods, "{run:?}");
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "never throttled: {run:?}");
    }
}

#[test]
fn a_real_group_is_read_and_throttles() {
    let Some(group) = Group::with_half_a_cpu() else {
        skipped("no control group with a quota can be made here");
        return;
    };
    let script = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";
    let status = Command::new("sh")
        .args(["-c", script])
        .arg(&group.0)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "quotas::inside_a_group", "--ignored"])
        .status()
        .unwrap();
    assert!(status.success());
}
