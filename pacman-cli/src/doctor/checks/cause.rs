//! The causes why something cannot be counted, and their remedies.

use std::io;

use super::surroundings::Limits;
use pacman_core::backend::perf::{PerfPermissions, UserReads};
use pacman_core::{Error, ErrorKind};
use serde::Serialize;

/// Why something cannot be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(transform = crate::tests::schemas::words_of_skipped_fields))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub(crate) enum Cause {
    /// The container, or root's own shortened capabilities, leave out
    /// `CAP_PERFMON`, and the paranoia level asks for it.
    Capability,
    /// Another profiler holds the counters.
    CountersTaken,
    /// The process is at its limit of open files, or soon would be.
    DescriptorLimit,
    /// User-mode reads differ from the kernel's counts: the processor may hide counters from user mode.
    HiddenCounters,
    /// Several core types, each with its own counters.
    HybridCores,
    /// The limits on locked memory leave no room for counter pages.
    LockedMemory,
    /// The kernel does not show where else it keeps the count.
    NoLedger,
    /// A kernel built without perf events.
    NoPerfEvents,
    /// A virtual machine whose hypervisor gives it no PMU.
    NoPmuInVm,
    /// The PMU or its driver does not have this.
    NotOffered,
    /// Follows from something that failed before.
    NotTried,
    /// `kernel.perf_event_paranoid`.
    Paranoid,
    /// The machine may have a PMU, but the kernel does not drive it.
    PmuNotDriven,
    /// User-mode reads are switched off for the PMU.
    RdpmcOff,
    /// A seccomp filter answers for the kernel.
    Seccomp,
    /// A security module such as SELinux.
    SecurityModule,
    /// Counters open and stay at zero.
    SilentPmu,
    /// The whole system is out of descriptors.
    SystemDescriptors,
    /// The PMU has fewer counters than that, or fewer that can take these events.
    TooFewCounters,
    /// An `errno` without a known story.
    Unexplained(#[serde(skip)] i32),
    /// User-mode reads are made for x86-64, and for AArch64 from Linux 5.17 on.
    UnsupportedArchitecture,
    /// `kernel.perf_user_access` is 0, as by default on AArch64.
    UserAccessOff,
    /// The capability is held in a user namespace, where it does not count.
    UserNamespace,
    /// The NMI watchdog holds a counter.
    Watchdog,
}

/// The permission that an event needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// A hardware counter, in user mode.
    UserMode,
    /// A hardware counter, in the kernel.
    KernelMode,
    /// A software event that happens in user mode.
    Software,
    /// A software event that happens in the kernel.
    SoftwareInKernel,
}

impl Scope {
    fn hardware(self) -> bool {
        matches!(self, Scope::UserMode | Scope::KernelMode)
    }

    /// The highest paranoia level that allows it. Levels above 2 are those of
    /// Debian, Ubuntu and Android, which close the system call altogether.
    pub(super) fn level(self) -> i32 {
        match self {
            Scope::UserMode | Scope::Software => 2,
            Scope::KernelMode | Scope::SoftwareInKernel => 1,
        }
    }
}

/// The facts from which causes are told.
#[derive(Clone, Copy)]
pub(super) struct Circumstances<'a> {
    pub(super) permissions: &'a PerfPermissions,
    pub(super) around: &'a Limits,
    /// The `errno` with which even an empty request was refused before the
    /// kernel looked at it.
    pub(super) refused: Option<i32>,
}

impl Circumstances<'_> {
    /// The cause behind a session's error.
    pub(super) fn cause(&self, error: &Error, asks: Scope) -> Cause {
        if error.kind() == ErrorKind::NotScheduled {
            return match () {
                // Where their PMUs are known, events count on all core types.
                () if self.permissions.is_hybrid() && self.around.core_types.is_empty() => {
                    Cause::HybridCores
                }
                () if self.permissions.watchdog => Cause::Watchdog,
                () => Cause::CountersTaken,
            };
        }
        match error.errno().unwrap_or(0) {
            libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP => {
                if !asks.hardware() || self.permissions.has_pmu() {
                    Cause::NotOffered
                } else if self.permissions.virtual_machine {
                    Cause::NoPmuInVm
                } else {
                    Cause::PmuNotDriven
                }
            }
            libc::EACCES | libc::EPERM => self.forbidder(error.errno().unwrap_or(0), asks),
            libc::EINVAL if error.kind() == ErrorKind::Conflict => Cause::TooFewCounters,
            libc::EINVAL => Cause::NotOffered,
            libc::EBUSY => Cause::CountersTaken,
            libc::EMFILE => Cause::DescriptorLimit,
            libc::ENFILE => Cause::SystemDescriptors,
            libc::ENOSYS if self.permissions.paranoid.is_none() => Cause::NoPerfEvents,
            libc::ENOSYS => Cause::Seccomp,
            errno => Cause::Unexplained(errno),
        }
    }

    /// The cause of a refusal. Linux answers `EACCES` for its own paranoia level, and most filters
    /// answer `EPERM`; a filter also refuses requests that are void.
    pub(super) fn forbidder(&self, errno: i32, asks: Scope) -> Cause {
        let filtered = self.permissions.seccomp == 2 && self.refused.is_some();
        if filtered && errno == libc::EPERM {
            return Cause::Seccomp;
        }
        let too_paranoid = self.permissions.paranoid.is_some_and(|level| level > asks.level());
        if too_paranoid && self.permissions.capability.is_none() {
            return if self.around.user_namespace && self.around.holds_capability {
                Cause::UserNamespace
            } else if self.permissions.container.is_some() || self.around.root {
                Cause::Capability
            } else {
                Cause::Paranoid
            };
        }
        if filtered { Cause::Seccomp } else { Cause::SecurityModule }
    }

    /// The instruction of user-mode reads.
    pub(super) fn instruction(&self) -> &'static str {
        match self.permissions.user_reads {
            UserReads::OnRequest => "MRS",
            _ => "RDPMC",
        }
    }

    /// The cause as a clause.
    pub(super) fn words(&self, cause: Cause, asks: Scope) -> String {
        let level = self.permissions.paranoid.unwrap_or_default();
        let need = match asks.level() {
            2 => "counting itself needs 2 or less",
            _ => "counting in the kernel needs 1 or less",
        };
        match cause {
            Cause::Capability => format!(
                "perf_event_paranoid is {level} ({need}) and {} without CAP_PERFMON",
                match self.permissions.container {
                    Some(container) => format!("this process runs in {container}"),
                    None => "root runs here".into(),
                }
            ),
            Cause::CountersTaken => "another profiler holds the counters".into(),
            Cause::DescriptorLimit => {
                format!(
                    "this process is at its limit of {} open files",
                    self.permissions.descriptors
                )
            }
            Cause::HiddenCounters => format!(
                "{} does not read the counts that the kernel has (the processor may hide counters from \
                 user mode)",
                self.instruction()
            ),
            Cause::HybridCores => format!(
                "each core type has counters of its own ({})",
                match self.permissions.pmus.as_slice() {
                    [_, _, ..] => self.permissions.pmus.join(", "),
                    _ => "a hybrid processor by CPUID".into(),
                }
            ),
            Cause::LockedMemory => {
                "the limits on locked memory leave no room for counter pages".into()
            }
            Cause::NoLedger => "/proc/thread-self/sched is not there (CONFIG_SCHED_DEBUG)".into(),
            Cause::NoPerfEvents => "this kernel is built without perf events".into(),
            Cause::NoPmuInVm => "this virtual machine has no PMU".into(),
            Cause::NotOffered if asks.hardware() => "the PMU driver does not offer it".into(),
            Cause::NotOffered => "this kernel does not offer it".into(),
            Cause::NotTried => "no hardware event counts".into(),
            Cause::Paranoid => format!(
                "perf_event_paranoid is {level}, {need}, and this process has no CAP_PERFMON"
            ),
            Cause::PmuNotDriven => "the kernel drives no PMU on this machine".into(),
            Cause::RdpmcOff => "the kernel has it switched off (rdpmc is 0)".into(),
            Cause::Seccomp => format!(
                "a seccomp filter{} refuses perf_event_open before the kernel sees it",
                self.permissions.container.map(|name| format!(" of {name}")).unwrap_or_default()
            ),
            Cause::SecurityModule => {
                let modules = &self.around.security_modules;
                if modules.is_empty() {
                    "permission is denied by neither perf_event_paranoid nor seccomp: \
                     a security module may forbid it"
                        .into()
                } else {
                    format!(
                        "permission is denied by neither perf_event_paranoid nor seccomp: \
                         one of the security modules may forbid it ({})",
                        modules.join(", ")
                    )
                }
            }
            Cause::SilentPmu => "the counters open but stay at zero".into(),
            Cause::SystemDescriptors => "the whole system is out of file descriptors".into(),
            Cause::TooFewCounters => "no counter is left that can take the next one".into(),
            Cause::Unexplained(0) => "the kernel gave no reason".into(),
            Cause::Unexplained(errno) => {
                format!("the kernel said {}", io::Error::from_raw_os_error(errno))
            }
            Cause::UnsupportedArchitecture => {
                "user-mode reads are made for x86-64, and for AArch64 from Linux 5.17 on".into()
            }
            Cause::UserAccessOff => "kernel.perf_user_access is 0".into(),
            Cause::UserNamespace => format!(
                "CAP_PERFMON is held in a user namespace only, where it does not count, \
                 and perf_event_paranoid is {level} ({need})"
            ),
            Cause::Watchdog => "the NMI watchdog holds a counter".into(),
        }
    }
}
