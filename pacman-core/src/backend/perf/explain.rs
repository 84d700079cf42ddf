//! The error behind an `errno` of `perf_event_open(2)`, by what the process may count.

use crate::backend::Target;
use crate::descriptor;
use crate::platform::PerfPermissions;
use crate::seam::Errno;
use pacman_events::{Error, ErrorKind};

/// The reach of an event. The paranoid level must allow it.
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
    /// The highest `perf_event_paranoid` that allows this reach without a capability.
    fn highest_level(self) -> i32 {
        match self {
            Reach::User => 2,
            Reach::Kernel => 1,
            Reach::Sibling => 0,
        }
    }
}

impl PerfPermissions {
    /// The reason in words why the kernel has no core PMU.
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
                    "counters use at most three quarters of this process's limit of {} open files, and leave \
                     64 to the program; raise it with ulimit -n",
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

    /// The cause of a refusal. The kernel answers `EACCES` because of the paranoid level; a filter
    /// usually answers `EPERM`. A level that allows the event is not the cause.
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

    /// The likely owner of hardware counters that a group did not get.
    pub(crate) fn competitor(&self) -> &'static str {
        if self.is_hybrid() {
            "this hybrid processor's PMUs are out of sight (/sys), so that events count on the core \
             type on which the process started only; bind the thread to cores of that type"
        } else {
            self.holder()
        }
    }

    /// The likely owner of counters on cores of one type.
    pub(crate) fn holder(&self) -> &'static str {
        if self.watchdog {
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
    use crate::arch::UserReads;

    fn permissions() -> PerfPermissions {
        PerfPermissions {
            paranoid: Some(2),
            capability: None,
            seccomp: 0,
            pmus: vec!["cpu".into()],
            hybrid: false,
            driver_doubt: None,
            trusts_driver: false,
            rdpmc: Some(1),
            user_reads: UserReads::ByPage,
            watchdog: false,
            smt: true,
            shares_cycle_counter: false,
            virtual_machine: false,
            descriptors: 1024,
            container: None,
        }
    }

    #[test]
    fn one_errno_has_many_causes_and_each_is_told_apart() {
        let vm = PerfPermissions { pmus: vec![], virtual_machine: true, ..permissions() };
        let bare = PerfPermissions { pmus: vec![], ..permissions() };
        let debian = PerfPermissions { paranoid: Some(3), ..permissions() };
        let docker = PerfPermissions {
            paranoid: Some(1),
            seccomp: 2,
            container: Some("docker"),
            ..permissions()
        };
        let selinux = PerfPermissions { paranoid: Some(1), ..permissions() };
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
                &permissions(),
                libc::ENOENT,
                ErrorKind::Unsupported,
                "cannot open CYCLES for this thread: this kernel's PMU driver does not offer it (No such file or directory (os error 2)); choose another event",
            ),
            (
                &permissions(),
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
                &permissions(),
                libc::EMFILE,
                ErrorKind::NoDescriptors,
                "cannot open CYCLES for this thread: this process is at its limit of 1024 open files; raise it with ulimit -n",
            ),
            (
                &permissions(),
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
    fn a_level_that_allows_is_not_blamed() {
        let filtered = PerfPermissions { seccomp: 2, ..permissions() };
        assert!(filtered.why_forbidden(Reach::Kernel, Errno(libc::EPERM)).contains("seccomp"));
        assert!(
            permissions()
                .why_forbidden(Reach::User, Errno(libc::EACCES))
                .contains("security module")
        );
        assert!(
            permissions()
                .why_forbidden(Reach::Kernel, Errno(libc::EACCES))
                .contains("paranoid is 2")
        );
        let debian_default = PerfPermissions { paranoid: Some(1), ..permissions() };
        assert_eq!(
            debian_default.why_forbidden(Reach::Sibling, Errno(libc::EACCES)),
            "permission denied: perf_event_paranoid is 1; 0 or less lets it count the sibling's \
             work too (sysctl kernel.perf_event_paranoid), or CAP_PERFMON"
        );
    }
}
