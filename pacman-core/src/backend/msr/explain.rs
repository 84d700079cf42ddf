//! One line of text for each possible failure, with its remedy.

use std::io;

use super::CpuLocation;
use crate::seam::Errno;
use pacman_events::registers::{CycleCounting, RegisterGuard};
use pacman_events::{Error, ErrorKind};

/// An access to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write(u64),
}

/// The facts at the begin of every message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explain<'a> {
    pub(super) site: CpuLocation,
    /// The events, comma-separated.
    pub(super) names: &'a str,
}

impl Explain<'_> {
    /// The operating system or the processor refused an access.
    #[cold]
    pub(super) fn refused(&self, access: Access, msr: u32, errno: Errno) -> Error {
        let cpu = self.site.cpu;
        let (kind, reason) = match (errno.0, access) {
            (libc::ENOENT, _) => (
                ErrorKind::Unsupported,
                "there is no /dev/cpu/*/msr; load the kernel's module with modprobe msr (a \
                 container needs --device /dev/cpu/N/msr as well)"
                    .to_owned(),
            ),
            (libc::ENXIO, _) => (
                ErrorKind::PlaceNotAllowed,
                format!(
                    "the context is offline; write 1 to /sys/devices/system/cpu/cpu{cpu}/online, or \
                     bind to another one"
                ),
            ),
            (libc::EIO, Access::Read) => (
                ErrorKind::Unsupported,
                format!(
                    "the processor faults on reading MSR {msr:#x}: this model lacks it, or a \
                     hypervisor keeps it; check with pacman-pmu doctor"
                ),
            ),
            (libc::EIO, Access::Write(value)) => (
                ErrorKind::Unsupported,
                format!(
                    "the processor faults on writing {value:#x} to MSR {msr:#x}: this model lacks \
                     the register or a bit; leave out the event that needs it"
                ),
            ),
            (libc::EPERM, Access::Write(_)) => (
                ErrorKind::Permission,
                format!(
                    "the kernel refuses to write MSR {msr:#x}; boot without lockdown and with \
                     msr.allow_writes=on"
                ),
            ),
            (libc::EPERM, Access::Read) => (
                ErrorKind::Permission,
                format!(
                    "the kernel refuses /dev/cpu/{cpu}/msr; it needs CAP_SYS_RAWIO, in a container \
                     --cap-add SYS_RAWIO, and a kernel that is not locked down"
                ),
            ),
            (libc::EACCES, _) => (
                ErrorKind::Permission,
                format!(
                    "/dev/cpu/{cpu}/msr is not for this user; run as root, or give the program \
                     CAP_SYS_RAWIO and its user the device"
                ),
            ),
            (libc::EMFILE | libc::ENFILE, _) => (
                ErrorKind::NoDescriptors,
                format!("no descriptor is left for /dev/cpu/{cpu}/msr; raise ulimit -n"),
            ),
            (other, _) => (
                ErrorKind::System,
                format!(
                    "/dev/cpu/{cpu}/msr says {} at MSR {msr:#x}; use the perf backend",
                    io::Error::from_raw_os_error(other)
                ),
            ),
        };
        Error::from_errno(kind, errno.0, self.line(&reason))
    }

    /// A counter was already enabled.
    #[cold]
    pub(super) fn enabled(&self, guard: &RegisterGuard, value: u64, watchdog: bool) -> Error {
        let RegisterGuard { counter, event, msr, .. } = guard;
        let cycles = match guard.cycles {
            CycleCounting::Counter(cycles) => cycles,
            CycleCounting::Select(select) => value & 0xffff == select,
        };
        let owner = if watchdog && cycles {
            "by the kernel's NMI watchdog; write 0 to /proc/sys/kernel/nmi_watchdog"
        } else {
            "by somebody unknown; end other profilers, or count other events"
        };
        let reason =
            format!("{event} needs {counter}, and MSR {msr:#x} = {value:#x} is enabled {owner}");
        Error::new(ErrorKind::Conflict, self.line(&reason))
    }

    /// Our tagging ESCR works only beside a sibling's counter.
    #[cold]
    pub(super) fn asleep(&self, guard: &RegisterGuard) -> Error {
        let RegisterGuard { counter, event, .. } = guard;
        let reason = format!(
            "the tag of {event} needs {counter}, which the plan gives to the sibling; attach the \
             sibling's thread first"
        );
        Error::new(ErrorKind::NotScheduled, self.line(&reason))
    }

    /// Another session of this process has the register.
    #[cold]
    pub(super) fn held_here(&self, msr: u32) -> Error {
        let reason = format!(
            "another session of this process holds MSR {msr:#x}; end it, or plan both together"
        );
        Error::new(ErrorKind::Conflict, self.line(&reason))
    }

    /// Another process has the register.
    #[cold]
    pub(super) fn held_by(&self, msr: u32, process: i32) -> Error {
        let reason = format!(
            "process {process} holds MSR {msr:#x} through PACMAN; wait for it, or count other events"
        );
        Error::new(ErrorKind::Conflict, self.line(&reason))
    }

    /// The table of registers to restore is full.
    #[cold]
    pub(super) fn no_log(&self) -> Error {
        let reason = "the table of registers to restore is full; end some sessions first";
        Error::new(ErrorKind::System, self.line(reason))
    }

    /// Another program has reprogrammed the counters.
    #[cold]
    pub(super) fn reprogrammed(&self, msr: u32) -> Error {
        let reason = format!(
            "somebody else has written MSR {msr:#x} meanwhile, so the counts are not ours; end \
             other profilers and attach again"
        );
        Error::new(ErrorKind::NotScheduled, self.line(&reason))
    }

    /// The thread runs on another context than its counters.
    #[cold]
    pub(super) fn moved(&self, now: u32) -> Error {
        let reason = format!(
            "the thread was moved to cpu {now}, and its counts stayed behind; bind it and attach again"
        );
        Error::new(ErrorKind::PlaceNotAllowed, self.line(&reason))
    }

    /// A signal ended counting.
    #[cold]
    pub(super) fn given_back(&self) -> Error {
        let reason = "a signal asked the process to end, and the counters were restored; attach \
                      again to go on";
        Error::new(ErrorKind::NotScheduled, self.line(reason))
    }

    /// Registers can no longer be programmed.
    #[cold]
    pub(super) fn ending(&self) -> Error {
        let reason = "the process is about to end; attach earlier";
        Error::new(ErrorKind::NotScheduled, self.line(reason))
    }

    /// The counters are the parent's.
    #[cold]
    pub(super) fn forked(&self) -> Error {
        let reason = "the counters belong to the parent that forked; open a session in the child";
        Error::new(ErrorKind::Forked, self.line(reason))
    }

    /// The calling thread's context is not part of the plan's machine.
    #[cold]
    pub(super) fn no_plan(&self, context: u8) -> Error {
        let reason = format!(
            "the plan has nothing for context {context} of a core; bind the thread to a context \
             that it plans for"
        );
        Error::new(ErrorKind::NoSuchPlace, self.line(&reason))
    }

    fn line(&self, reason: &str) -> String {
        format!("cannot count {} on cpu {}: {reason}", self.names, self.site.cpu)
    }
}
