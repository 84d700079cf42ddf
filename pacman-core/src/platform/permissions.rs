//! The events that this process may count on this machine, and the obstacles to the others.
//!
//! The facts come from files and are never guessed from an `errno`: the paranoid level, seccomp and
//! a security module all answer `EACCES`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use pacman_events::few;

use super::cpuid;
use crate::arch::{self, UserReads};

/// `CAP_SYS_ADMIN` and `CAP_PERFMON`: either lifts the paranoid level.
const CAPABILITIES: [(u32, &str); 2] = [(38, "CAP_PERFMON"), (21, "CAP_SYS_ADMIN")];

/// The environment variable that, set to 1, accepts counts of a driver that is not trusted.
pub const TRUST_DRIVER: &str = "PACMAN_TRUST_DRIVER";

static ACCEPTED: AtomicBool = AtomicBool::new(false);

/// From now on this process accepts counts of a driver that is not trusted. Programs that it starts do not
/// inherit this, as they do [`TRUST_DRIVER`] in the environment.
pub fn trust_driver() {
    // ATOMICS: relaxed, since no other data depends on it.
    ACCEPTED.store(true, Ordering::Relaxed);
}

/// Whether this process accepts such counts: by [`trust_driver`] or by its environment.
pub fn trusts_driver() -> bool {
    ACCEPTED.load(Ordering::Relaxed)
        || std::env::var_os(TRUST_DRIVER).is_some_and(|value| value == "1")
}

/// The first line with flags. Reading stops there, because the kernel makes the record of each context
/// only when it is read.
fn flags(cpuinfo: &Path) -> Option<String> {
    let lines = BufReader::new(File::open(cpuinfo).ok()?).lines();
    lines.map_while(Result::ok).find(|line| line.starts_with("flags"))
}

/// The facts that decide the answer of `perf_event_open(2)`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PerfPermissions {
    /// `kernel.perf_event_paranoid`; `None` on a kernel without perf events.
    pub paranoid: Option<i32>,
    /// The capability that lifts the paranoid level, if one is effective and counts. In a user
    /// namespace of its own a process may hold all of them without effect.
    pub capability: Option<&'static str>,
    /// The seccomp mode of the process: 0 none, 1 strict, 2 filter.
    pub seccomp: u8,
    /// The core PMUs the kernel drives: `cpu`, or `cpu_core` and `cpu_atom`, …
    pub pmus: Vec<String>,
    /// The processor has cores of several types, by CPUID, because `/sys` may be hidden.
    pub hybrid: bool,
    /// Why hardware counts of the kernel's driver may be wrong on this processor.
    pub driver_doubt: Option<&'static str>,
    /// The program accepts such counts; they are marked.
    pub trusts_driver: bool,
    /// `/sys/bus/event_source/devices/cpu/rdpmc`: 0 never, 1 own events, 2 always.
    pub rdpmc: Option<u8>,
    /// How a thread gets leave to read its counters in user mode.
    pub user_reads: UserReads,
    /// The NMI watchdog is on and holds one counter.
    pub watchdog: bool,
    /// Sibling contexts are enabled (`/sys/devices/system/cpu/smt/active`).
    pub smt: bool,
    /// The PMU's cycle counter counts the clock of the core, which siblings share, and the kernel puts
    /// cycles on it.
    pub shares_cycle_counter: bool,
    /// The processor's `hypervisor` flag: this is a virtual machine.
    pub virtual_machine: bool,
    /// The limit on open descriptors of this process.
    pub descriptors: u64,
    /// The container runtime, if its mark is found.
    pub container: Option<&'static str>,
}

impl PerfPermissions {
    /// Reads the facts of the running system.
    pub fn read() -> PerfPermissions {
        PerfPermissions::read_under(Path::new("/"))
    }

    /// Reads the facts from a tree of `/proc` and `/sys` files under `root`.
    pub fn read_under(root: &Path) -> PerfPermissions {
        let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        let status = text("proc/self/status");
        let is_here = root == Path::new("/");
        let field = |name: &str| {
            status.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_string()))
        };
        let effective =
            field("CapEff:").and_then(|hex| u64::from_str_radix(&hex, 16).ok()).unwrap_or_default();
        let smt = text("sys/devices/system/cpu/smt/active").trim() == "1";
        let limits = text("proc/self/limits");
        let descriptors = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"))
            .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .unwrap_or(u64::MAX);
        PerfPermissions {
            paranoid: text("proc/sys/kernel/perf_event_paranoid").trim().parse().ok(),
            capability: CAPABILITIES
                .iter()
                .find(|(bit, _)| {
                    effective >> bit & 1 == 1 && !PerfPermissions::in_user_namespace(root)
                })
                .map(|(_, name)| *name),
            seccomp: field("Seccomp:").and_then(|mode| mode.parse().ok()).unwrap_or(0),
            pmus: core_pmus(&root.join("sys/bus/event_source/devices")),
            hybrid: is_here && cpuid::is_hybrid(),
            driver_doubt: is_here.then(cpuid::driver_doubt).flatten(),
            trusts_driver: trusts_driver(),
            rdpmc: text("sys/bus/event_source/devices/cpu/rdpmc").trim().parse().ok(),
            user_reads: arch::user_reads(text("proc/sys/kernel/perf_user_access").trim()),
            watchdog: text("proc/sys/kernel/nmi_watchdog").trim() == "1",
            smt,
            shares_cycle_counter: smt
                && arch::shares_cycle_counter(text("proc/sys/kernel/osrelease").trim()),
            virtual_machine: flags(&root.join("proc/cpuinfo"))
                .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor")),
            descriptors,
            container: container(root),
        }
    }

    /// Whether events of the kernel may be counted (`perf_event_paranoid` below
    /// 2, or the capability).
    pub fn may_count_kernel(&self) -> bool {
        self.capability.is_some() || self.paranoid.is_some_and(|level| level < 2)
    }

    /// Whether the process is in a user namespace other than the machine's first. The first has a
    /// fixed inode number (the kernel's `PROC_USER_INIT_INO`).
    pub fn in_user_namespace(root: &Path) -> bool {
        fs::read_link(root.join("proc/self/ns/user"))
            .is_ok_and(|link| link.as_os_str() != "user:[4026531837]")
    }

    /// Whether the machine shows a core PMU.
    pub fn has_pmu(&self) -> bool {
        !self.pmus.is_empty()
    }

    /// Whether there are core types with PMUs of their own.
    pub fn is_hybrid(&self) -> bool {
        self.hybrid || self.pmus.len() > 1
    }
}

/// The PMUs that count for cores: those with a `cpus` list, and x86's plain `cpu`.
fn core_pmus(devices: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(devices) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            name == "cpu"
                || name.starts_with("cpu_")
                || name.starts_with("armv")
                || name.starts_with("apple_")
        })
        .collect();
    few::sort(&mut names);
    names
}

/// The container engine whose mark is found under `root`.
fn container(root: &Path) -> Option<&'static str> {
    let marks = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
    if let Some((_, name)) = marks.iter().find(|(file, _)| root.join(file).exists()) {
        return Some(name);
    }
    fs::read_to_string(root.join("run/systemd/container")).ok().map(|_| "systemd-nspawn or LXC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_counts_only_outside_of_user_namespaces() {
        let root = std::env::temp_dir().join(format!("pacman-userns-{}", std::process::id()));
        let own = root.join("proc/self");
        fs::create_dir_all(own.join("ns")).unwrap();
        fs::write(own.join("status"), "CapEff:\t000001ffffffffff\n").unwrap();
        let link = own.join("ns/user");
        for (target, capability) in
            [("user:[4026531837]", Some("CAP_PERFMON")), ("user:[4026532210]", None)]
        {
            std::os::unix::fs::symlink(target, &link).unwrap();
            let facts = PerfPermissions::read_under(&root);
            fs::remove_file(&link).unwrap();
            assert_eq!(facts.capability, capability, "{target}");
        }
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn the_facts_come_from_the_files() {
        let root = std::env::temp_dir().join(format!("pacman-permissions-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/sys/kernel/perf_event_paranoid", "4\n");
        write("proc/sys/kernel/nmi_watchdog", "1\n");
        write("proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\nSeccomp:\t2\n");
        write(
            "proc/self/limits",
            "Max open files            256                  512       files\n",
        );
        write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor sse2\n");
        write("sys/bus/event_source/devices/cpu_core/type", "4\n");
        write("sys/bus/event_source/devices/cpu_atom/type", "10\n");
        write("sys/bus/event_source/devices/software/type", "1\n");
        write(".dockerenv", "");
        let facts = PerfPermissions::read_under(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(
            facts,
            PerfPermissions {
                paranoid: Some(4),
                capability: Some("CAP_PERFMON"),
                seccomp: 2,
                pmus: vec!["cpu_atom".into(), "cpu_core".into()],
                hybrid: false,
                driver_doubt: None,
                trusts_driver: false,
                rdpmc: None,
                user_reads: arch::user_reads(""),
                watchdog: true,
                smt: false,
                shares_cycle_counter: false,
                virtual_machine: true,
                descriptors: 256,
                container: Some("docker"),
            }
        );
        assert!(facts.may_count_kernel() && facts.has_pmu());
    }
}
