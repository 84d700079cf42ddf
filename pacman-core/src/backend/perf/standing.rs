//! What this process may count on this machine, and what stands in the way.
//!
//! Read from files, never guessed from one `errno`: the same `EACCES` comes from
//! the paranoia level, from seccomp and from a security module.

use std::fs;
use std::path::Path;

use crate::backend::Target;
use crate::descriptor;
use crate::error::{Error, ErrorKind};
use crate::platform::cpuid;

use super::files::{container, core_pmus};
use super::sys::Errno;
use super::trust;

/// `CAP_SYS_ADMIN` and `CAP_PERFMON`, either of which frees from the paranoia level.
const CAPABILITIES: [(u32, &str); 2] = [(38, "CAP_PERFMON"), (21, "CAP_SYS_ADMIN")];

/// The facts that decide what `perf_event_open(2)` answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    /// `kernel.perf_event_paranoid`; `None` on a kernel without perf events.
    pub paranoid: Option<i32>,
    /// The capability that lifts the paranoia level, if one is effective and
    /// counts: in a user namespace of its own a process may hold every one in vain.
    pub capability: Option<&'static str>,
    /// The seccomp mode of the process: 0 none, 1 strict, 2 filter.
    pub seccomp: u8,
    /// The core PMUs the kernel drives: `cpu`, or `cpu_core` and `cpu_atom`, …
    pub pmus: Vec<String>,
    /// The processor has cores of several types, by CPUID: `/sys` may be out of sight.
    pub hybrid: bool,
    /// Why hardware counts of the kernel's driver may be wrong on this processor.
    pub driver_doubt: Option<&'static str>,
    /// Such counts are wanted all the same, and marked.
    pub trusts_driver: bool,
    /// `/sys/bus/event_source/devices/cpu/rdpmc`: 0 never, 1 own events, 2 always.
    pub rdpmc: Option<u8>,
    /// The NMI watchdog is on, and with it one counter gone.
    pub watchdog: bool,
    /// Sibling contexts are enabled (`/sys/devices/system/cpu/smt/active`).
    pub smt: bool,
    /// The processor's `hypervisor` flag: this is a virtual machine.
    pub virtual_machine: bool,
    /// The limit on open descriptors of this process.
    pub descriptors: u64,
    /// The container runtime, where its mark is found.
    pub container: Option<&'static str>,
}

/// What an event counts, by the paranoia level that allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The thread's own user mode.
    User,
    /// The kernel on the thread's behalf.
    Kernel,
    /// The sibling's work too (AnyThread).
    Sibling,
}

impl Reach {
    /// The highest `perf_event_paranoid` that allows it without a capability.
    fn highest_level(self) -> i32 {
        match self {
            Reach::User => 2,
            Reach::Kernel => 1,
            Reach::Sibling => 0,
        }
    }
}

impl Standing {
    /// Reads the facts of the running system.
    pub fn read() -> Standing {
        Standing::read_under(Path::new("/"))
    }

    /// Reads the facts from a tree of `/proc` and `/sys` files elsewhere.
    pub fn read_under(root: &Path) -> Standing {
        let text = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        let status = text("proc/self/status");
        let is_here = root == Path::new("/");
        let field = |name: &str| {
            status.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_string()))
        };
        let effective =
            field("CapEff:").and_then(|hex| u64::from_str_radix(&hex, 16).ok()).unwrap_or_default();
        let limits = text("proc/self/limits");
        let descriptors = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"))
            .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .unwrap_or(u64::MAX);
        Standing {
            paranoid: text("proc/sys/kernel/perf_event_paranoid").trim().parse().ok(),
            capability: CAPABILITIES
                .iter()
                .find(|(bit, _)| effective >> bit & 1 == 1 && !Standing::in_user_namespace(root))
                .map(|(_, name)| *name),
            seccomp: field("Seccomp:").and_then(|mode| mode.parse().ok()).unwrap_or(0),
            pmus: core_pmus(&root.join("sys/bus/event_source/devices")),
            hybrid: is_here && cpuid::is_hybrid(),
            driver_doubt: is_here.then(cpuid::driver_doubt).flatten(),
            trusts_driver: trust::is_wished(),
            rdpmc: text("sys/bus/event_source/devices/cpu/rdpmc").trim().parse().ok(),
            watchdog: text("proc/sys/kernel/nmi_watchdog").trim() == "1",
            smt: text("sys/devices/system/cpu/smt/active").trim() == "1",
            virtual_machine: text("proc/cpuinfo")
                .lines()
                .find(|line| line.starts_with("flags"))
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

    /// Whether the process lives in another user namespace than the machine's first,
    /// whose inode number is a constant of the kernel (`PROC_USER_INIT_INO`).
    pub(crate) fn in_user_namespace(root: &Path) -> bool {
        fs::read_link(root.join("proc/self/ns/user"))
            .is_ok_and(|link| link.as_os_str() != "user:[4026531837]")
    }

    /// Whether the machine shows a core PMU at all.
    pub fn has_pmu(&self) -> bool {
        !self.pmus.is_empty()
    }

    /// Whether there are core types with PMUs of their own.
    pub(crate) fn is_hybrid(&self) -> bool {
        self.hybrid || self.pmus.len() > 1
    }

    /// Why there is no core PMU, in words.
    pub(crate) fn why_no_pmu(&self) -> &'static str {
        if self.virtual_machine {
            "this virtual machine has no PMU; enable it for the guest (KVM: -cpu host,pmu=on) \
             or count software events such as task-clock"
        } else {
            "the kernel drives no PMU on this machine; look for \"Performance Events\" in dmesg \
             or count software events such as task-clock"
        }
    }

    /// The error behind an `errno` of `perf_event_open(2)` for `event` on `target`,
    /// which is counted by `hardware` and has that `reach`.
    #[cold]
    pub(crate) fn explain(
        &self,
        event: &str,
        hardware: bool,
        reach: Reach,
        target: Target,
        errno: Errno,
    ) -> Error {
        let ask = format!("cannot open {event} for {target}");
        if let Some((kind, why)) = self.obstacle(target, errno) {
            return Error::from_errno(kind, errno.0, format!("{ask}: {why}"));
        }
        let (kind, why) = match errno.0 {
            libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP if hardware && !self.has_pmu() => {
                (ErrorKind::NoPmu, self.why_no_pmu().to_string())
            }
            libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP => (
                ErrorKind::Unsupported,
                format!(
                    "this kernel's PMU driver does not offer it ({}); choose another event",
                    std::io::Error::from_raw_os_error(errno.0)
                ),
            ),
            libc::EACCES | libc::EPERM => (ErrorKind::Permission, self.why_forbidden(reach, errno)),
            libc::EMFILE if descriptor::leaves_a_floor() => (
                ErrorKind::NoDescriptors,
                format!(
                    "of this process's limit of {} open files a quarter, and 64, are left to the \
                     program; raise it with ulimit -n",
                    self.descriptors
                ),
            ),
            libc::EMFILE => (
                ErrorKind::NoDescriptors,
                format!(
                    "this process is at its limit of {} open files; raise it with ulimit -n",
                    self.descriptors
                ),
            ),
            libc::ENFILE => (
                ErrorKind::NoDescriptors,
                "the system is out of file descriptors; raise fs.file-max".into(),
            ),
            libc::ENOSYS => (
                ErrorKind::Permission,
                if self.paranoid.is_some() {
                    "the system call is filtered (seccomp answers ENOSYS); allow \
                     perf_event_open in the container's profile"
                        .into()
                } else {
                    "this kernel is built without perf events".into()
                },
            ),
            libc::EINVAL => (
                ErrorKind::Unsupported,
                "the kernel does not accept its encoding on this machine; check the code \
                 and the modifiers"
                    .into(),
            ),
            libc::EBUSY => (
                ErrorKind::Conflict,
                "another session holds the PMU for itself; end it and try again".into(),
            ),
            _ => (
                ErrorKind::System,
                format!(
                    "the kernel said {}; `pacman-pmu doctor` looks closer",
                    std::io::Error::from_raw_os_error(errno.0)
                ),
            ),
        };
        Error::from_errno(kind, errno.0, format!("{ask}: {why}"))
    }

    /// Who forbids counting: the kernel answers `EACCES` for the paranoia level,
    /// a filter most often `EPERM`, and a level that allows is not to blame.
    pub(crate) fn why_forbidden(&self, reach: Reach, errno: Errno) -> String {
        let filtered = self.seccomp == 2 && errno.0 == libc::EPERM;
        match self.paranoid {
            Some(level)
                if level > reach.highest_level() && self.capability.is_none() && !filtered =>
            {
                let need = match reach {
                    Reach::Sibling => "0 or less lets it count the sibling's work too",
                    _ if level >= 3 => "2 or less lets a process count itself",
                    _ => "1 or less lets it count the kernel",
                };
                format!(
                    "permission denied: perf_event_paranoid is {level}; {need} \
                     (sysctl kernel.perf_event_paranoid), or CAP_PERFMON"
                )
            }
            _ if self.seccomp == 2 => format!(
                "permission denied by a seccomp filter{}; allow perf_event_open in its profile",
                self.container.map(|c| format!(" (in {c})")).unwrap_or_default()
            ),
            _ => "permission denied, and neither perf_event_paranoid nor seccomp explains it; \
                  a security module (SELinux, AppArmor) may forbid perf_event"
                .into(),
        }
    }

    /// Who may hold hardware counters that a group did not get.
    pub(crate) fn competitor(&self) -> &'static str {
        if self.is_hybrid() {
            "on this hybrid machine an event counts on one core type only; bind the thread to \
             cores of that type"
        } else if self.watchdog {
            "the NMI watchdog holds a counter (sysctl kernel.nmi_watchdog=0 frees it), \
             and another profiler may hold more"
        } else {
            "another profiler holds the counters; end it or count fewer events"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing() -> Standing {
        Standing {
            paranoid: Some(2),
            capability: None,
            seccomp: 0,
            pmus: vec!["cpu".into()],
            hybrid: false,
            driver_doubt: None,
            trusts_driver: false,
            rdpmc: Some(1),
            watchdog: false,
            smt: true,
            virtual_machine: false,
            descriptors: 1024,
            container: None,
        }
    }

    #[test]
    fn one_errno_has_many_causes_and_each_is_told_apart() {
        let vm = Standing { pmus: vec![], virtual_machine: true, ..standing() };
        let bare = Standing { pmus: vec![], ..standing() };
        let debian = Standing { paranoid: Some(3), ..standing() };
        let docker =
            Standing { paranoid: Some(1), seccomp: 2, container: Some("docker"), ..standing() };
        let selinux = Standing { paranoid: Some(1), ..standing() };
        for (facts, errno, kind, text) in [
            (
                &vm,
                libc::ENOENT,
                ErrorKind::NoPmu,
                "cannot open CYCLES for this thread: this virtual machine has no PMU; enable it for the guest (KVM: -cpu host,pmu=on) or count software events such as task-clock",
            ),
            (
                &bare,
                libc::ENOENT,
                ErrorKind::NoPmu,
                "cannot open CYCLES for this thread: the kernel drives no PMU on this machine; look for \"Performance Events\" in dmesg or count software events such as task-clock",
            ),
            (
                &standing(),
                libc::ENOENT,
                ErrorKind::Unsupported,
                "cannot open CYCLES for this thread: this kernel's PMU driver does not offer it (No such file or directory (os error 2)); choose another event",
            ),
            (
                &standing(),
                libc::EACCES,
                ErrorKind::Permission,
                "cannot open CYCLES for this thread: permission denied: perf_event_paranoid is 2; 1 or less lets it count the kernel (sysctl kernel.perf_event_paranoid), or CAP_PERFMON",
            ),
            (
                &debian,
                libc::EACCES,
                ErrorKind::Permission,
                "cannot open CYCLES for this thread: permission denied: perf_event_paranoid is 3; 2 or less lets a process count itself (sysctl kernel.perf_event_paranoid), or CAP_PERFMON",
            ),
            (
                &docker,
                libc::EPERM,
                ErrorKind::Permission,
                "cannot open CYCLES for this thread: permission denied by a seccomp filter (in docker); allow perf_event_open in its profile",
            ),
            (
                &selinux,
                libc::EACCES,
                ErrorKind::Permission,
                "cannot open CYCLES for this thread: permission denied, and neither perf_event_paranoid nor seccomp explains it; a security module (SELinux, AppArmor) may forbid perf_event",
            ),
            (
                &standing(),
                libc::EMFILE,
                ErrorKind::NoDescriptors,
                "cannot open CYCLES for this thread: this process is at its limit of 1024 open files; raise it with ulimit -n",
            ),
            (
                &standing(),
                libc::EBUSY,
                ErrorKind::Conflict,
                "cannot open CYCLES for this thread: another session holds the PMU for itself; end it and try again",
            ),
        ] {
            let error = facts.explain("CYCLES", true, Reach::Kernel, Target::Caller, Errno(errno));
            assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
            assert_eq!(error.errno(), Some(errno));
        }
    }

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
            let facts = Standing::read_under(&root);
            fs::remove_file(&link).unwrap();
            assert_eq!(facts.capability, capability, "{target}");
        }
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_level_that_allows_is_not_blamed() {
        let filtered = Standing { seccomp: 2, ..standing() };
        assert!(filtered.why_forbidden(Reach::Kernel, Errno(libc::EPERM)).contains("seccomp"));
        assert!(
            standing().why_forbidden(Reach::User, Errno(libc::EACCES)).contains("security module")
        );
        assert!(
            standing().why_forbidden(Reach::Kernel, Errno(libc::EACCES)).contains("paranoid is 2")
        );
        let debian_default = Standing { paranoid: Some(1), ..standing() };
        assert_eq!(
            debian_default.why_forbidden(Reach::Sibling, Errno(libc::EACCES)),
            "permission denied: perf_event_paranoid is 1; 0 or less lets it count the sibling's \
             work too (sysctl kernel.perf_event_paranoid), or CAP_PERFMON"
        );
    }

    #[test]
    fn the_facts_come_from_the_files() {
        let root = std::env::temp_dir().join(format!("pacman-standing-{}", std::process::id()));
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
        let facts = Standing::read_under(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(
            facts,
            Standing {
                paranoid: Some(4),
                capability: Some("CAP_PERFMON"),
                seccomp: 2,
                pmus: vec!["cpu_atom".into(), "cpu_core".into()],
                hybrid: false,
                driver_doubt: None,
                trusts_driver: false,
                rdpmc: None,
                watchdog: true,
                smt: false,
                virtual_machine: true,
                descriptors: 256,
                container: Some("docker"),
            }
        );
        assert!(facts.may_count_kernel() && facts.has_pmu());
    }
}
