//! Facts around a process that only a diagnosis needs: limits, namespaces, security modules, clock.
//!
//! [`PerfPermissions`] has the facts that every error message needs.

use std::fs;
use std::path::Path;

use pacman_core::arch::CLOCK_SOURCE;
use pacman_core::backend::perf::PerfPermissions;
use pacman_core::platform::{self, CoreTypePmu, PlatformRef};
use pacman_events::CpuModel;
use pacman_topology::Topology;

use super::hypervisor::{self, Guests};
use pacman_events::plural::number;

/// `CAP_SYS_ADMIN` and `CAP_PERFMON`, as bits of a capability set.
const COUNTING: u64 = 1 << 21 | 1 << 38;
/// `CAP_IPC_LOCK`, as a bit of a capability set.
const IPC_LOCK: u64 = 1 << 14;

/// Limits, namespaces, security modules and the clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Limits {
    /// Hardware contexts that are online.
    pub(crate) contexts: u64,
    /// The PMUs of the core types, on a hybrid processor.
    pub(crate) core_types: Vec<CoreTypePmu>,
    /// The model of the processor, where it is known.
    pub(crate) model: Option<CpuModel>,
    /// The effective user is root.
    pub(crate) root: bool,
    /// The process is in a user namespace, whose capabilities do not count for perf events.
    pub(crate) user_namespace: bool,
    /// The process holds a capability that allows counting outside of user namespaces.
    pub(crate) holds_capability: bool,
    /// A program with the file capability would get `CAP_PERFMON` here.
    pub(crate) may_gain_capability: bool,
    /// The process holds `CAP_IPC_LOCK`, so its locked memory is not limited.
    pub(crate) ipc_lock: bool,
    /// The security modules of the kernel, from `/sys/kernel/security/lsm`.
    pub(crate) security_modules: Vec<String>,
    /// The number of descriptors that the process has open.
    pub(crate) open_files: u64,
    /// `kernel.perf_event_mlock_kb`: KiB of counter pages that a user may map for each online
    /// context, in addition to the limit on locked memory.
    pub(crate) page_allowance_kb: Option<u64>,
    /// The process's limit on locked memory in bytes; `None` for no limit.
    pub(crate) locked_memory: Option<u64>,
    /// KVM runs this guest.
    pub(crate) kvm_guest: bool,
    /// The counters that KVM on this machine gives its guests; `None` without KVM.
    pub(crate) guests: Option<Guests>,
    /// Linux's source of time.
    pub(crate) clock_source: Option<String>,
    /// The restrictions of CPUs and CPU time, one line each.
    pub(crate) cpu_limits: Vec<String>,
}

impl Limits {
    /// The facts of a process without any limit, on the processor of `platform`.
    pub(super) fn unlimited(platform: &PlatformRef) -> Limits {
        Limits {
            contexts: 1,
            core_types: platform.core_types(),
            model: Some(platform.cpu_model()),
            root: true,
            ipc_lock: true,
            clock_source: CLOCK_SOURCE.map(str::to_owned),
            ..Limits::default()
        }
    }

    /// Reads the facts of the running system.
    pub(crate) fn read() -> Limits {
        let mut facts = Limits::read_under(Path::new("/"));
        facts.core_types = platform::host().core_types();
        facts.model = Some(platform::host().cpu_model());
        facts.kvm_guest = hypervisor::is_kvm();
        if let Ok(topology) = Topology::of(platform::host()) {
            let all = topology.contexts().len();
            let lost = topology.restrictions().iter().map(|restriction| {
                let all = number(all, "context");
                format!("{} leaves {} of {all}", restriction.by, restriction.cpus.len())
            });
            facts.cpu_limits.extend(lost);
            facts.cpu_limits.extend(topology.quota().map(|quota| {
                let effective = number(topology.effective_contexts(), "thread");
                format!("a cgroup allows {quota}, for {effective} at once")
            }));
        }
        facts
    }

    /// Reads the facts without the limits on CPUs from a copy of `/proc` and `/sys` under `root`.
    pub(crate) fn read_under(root: &Path) -> Limits {
        let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        let status = text("proc/self/status");
        let field =
            |name: &str| status.lines().find_map(|line| Some(line.strip_prefix(name)?.trim()));
        let set = |name: &str| {
            field(name).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or_default()
        };
        let limits = text("proc/self/limits");
        let locked = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max locked memory"))
            .and_then(|rest| rest.split_whitespace().next());
        let clock = text("sys/devices/system/clocksource/clocksource0/current_clocksource");
        let modules = text("sys/kernel/security/lsm");
        Limits {
            core_types: Vec::new(),
            model: None,
            contexts: online(text("sys/devices/system/cpu/online").trim()),
            root: field("Uid:").and_then(|ids| ids.split_whitespace().nth(1)) == Some("0"),
            user_namespace: PerfPermissions::in_user_namespace(root),
            holds_capability: set("CapEff:") & COUNTING != 0,
            may_gain_capability: set("CapBnd:") & COUNTING != 0,
            ipc_lock: set("CapEff:") & IPC_LOCK != 0,
            security_modules: modules
                .trim()
                .split(',')
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
            // The list contains the descriptor of the directory itself.
            open_files: fs::read_dir(root.join("proc/self/fd"))
                .map_or(0, |entries| (entries.count() as u64).saturating_sub(1)),
            page_allowance_kb: text("proc/sys/kernel/perf_event_mlock_kb").trim().parse().ok(),
            locked_memory: locked.and_then(|bytes| bytes.parse().ok()),
            kvm_guest: false,
            guests: Guests::read_under(root),
            clock_source: Some(clock.trim().to_owned()).filter(|name| !name.is_empty()),
            cpu_limits: Vec::new(),
        }
    }
}

/// The number of CPUs in a list such as `0-3,8`; at least one.
fn online(list: &str) -> u64 {
    let count: u64 = list
        .split(',')
        .filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            Some(last.checked_sub(first)? + 1)
        })
        .sum();
    count.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_counted() {
        for (list, count) in [("0-3,8", 5), ("0", 1), ("", 1), ("3-1", 1)] {
            assert_eq!(online(list), count, "{list:?}");
        }
    }

    #[test]
    fn the_facts_come_from_the_files() {
        let root = std::env::temp_dir().join(format!("pacman-surroundings-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "proc/self/status",
            "Uid:\t1000\t0\t0\t0\nCapEff:\t0000000000004000\nCapBnd:\t0000004000000000\n",
        );
        write(
            "proc/self/limits",
            "Max locked memory         65536                65536                bytes\n",
        );
        for fd in 0..4 {
            write(&format!("proc/self/fd/{fd}"), "");
        }
        write("proc/sys/kernel/perf_event_mlock_kb", "516\n");
        write("sys/module/kvm_intel/parameters/enable_mediated_pmu", "Y\n");
        write("sys/kernel/security/lsm", "capability,apparmor\n");
        write("sys/devices/system/cpu/online", "0-1\n");
        write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
        let ns = root.join("proc/self/ns");
        fs::create_dir_all(&ns).unwrap();
        std::os::unix::fs::symlink("user:[4026532210]", ns.join("user")).unwrap();
        let facts = Limits::read_under(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(
            facts,
            Limits {
                core_types: Vec::new(),
                model: None,
                contexts: 2,
                root: true,
                user_namespace: true,
                holds_capability: false,
                may_gain_capability: true,
                ipc_lock: true,
                security_modules: vec!["capability".into(), "apparmor".into()],
                open_files: 3,
                page_allowance_kb: Some(516),
                locked_memory: Some(65536),
                kvm_guest: false,
                guests: Some(Guests::Mediated),
                clock_source: Some("hpet".into()),
                cpu_limits: vec![],
            }
        );
    }
}
