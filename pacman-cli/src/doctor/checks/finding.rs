//! One thing that was tried, how it went, why, and what would help.

use std::fmt;

use serde::Serialize;

use super::cause::Cause;

/// One thing that was tried, or one fact worth knowing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub(crate) struct Finding {
    /// Subject of the finding.
    pub(crate) subject: Check,
    /// Trial that found it.
    pub(crate) tried: String,
    /// Outcome of the trial.
    pub(crate) outcome: Outcome,
    /// Outcome in words: one line without a full stop.
    pub(crate) text: String,
    /// Cause why something did not work. A finding that works may have one, too, for the part of it
    /// that does not.
    pub(crate) cause: Option<Cause>,
    /// Remedies, the nearest first.
    pub(crate) help: Vec<Help>,
}

/// The outcome of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub(crate) enum Outcome {
    /// It works; the text names exceptions.
    Works,
    /// The machine could do it, but there is an obstacle that can be removed.
    InTheWay,
    /// This machine, kernel or build does not have it.
    Missing,
    /// A fact, neither good nor bad.
    Noted,
}

impl Cause {
    /// Whether the cause can be moved out of the way on this machine.
    pub(super) fn outcome(self) -> Outcome {
        match self {
            Cause::NoLedger
            | Cause::NoPerfEvents
            | Cause::NoPmuInVm
            | Cause::NotOffered
            | Cause::NotTried
            | Cause::PmuNotDriven
            | Cause::SilentPmu
            | Cause::TooFewCounters
            | Cause::UnsupportedArchitecture => Outcome::Missing,
            _ => Outcome::InTheWay,
        }
    }
}

/// The subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub(crate) enum Check {
    /// Whether `perf_event_open(2)` reaches the kernel.
    SystemCall,
    /// Hardware events in user mode, one at a time.
    HardwareEvents,
    /// Four hardware events at once.
    HardwareGroup,
    /// Hardware events in the kernel.
    KernelMode,
    /// Reading counters without a system call.
    UserReads,
    /// Software events, one at a time.
    SoftwareEvents,
    /// Counts that the kernel keeps for every thread, without perf events.
    Ledgers,
    /// Open files, against threads and events.
    Descriptors,
    /// Locked memory, against counter pages.
    LockedMemory,
    /// Whether the kernel's driver is believed.
    Driver,
    /// The NMI watchdog.
    Watchdog,
    /// Several kinds of core with a PMU each.
    Hybrid,
    /// A virtual machine.
    VirtualMachine,
    /// The counters of guests on this machine.
    Guests,
    /// A container.
    Container,
    /// CPUs or CPU time taken away by affinity or cgroups.
    CpuLimits,
    /// The source of wall times.
    ClockSource,
}

/// A remedy: its condition, and a command, a setting or advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub(crate) struct Help {
    /// Condition under which this is the one to take, such as `until the next boot`.
    pub(crate) when: &'static str,
    /// Command for a shell; null for another remedy.
    pub(crate) command: Option<String>,
    /// Option or setting for the place that `when` names; null for another remedy.
    pub(crate) setting: Option<String>,
    /// Sentence for a person; null for another remedy.
    pub(crate) advice: Option<String>,
}

impl Help {
    pub(super) fn command(when: &'static str, command: impl Into<String>) -> Help {
        Help { when, command: Some(command.into()), setting: None, advice: None }
    }

    pub(super) fn setting(when: &'static str, setting: impl Into<String>) -> Help {
        Help { when, command: None, setting: Some(setting.into()), advice: None }
    }

    pub(super) fn advice(when: &'static str, advice: impl Into<String>) -> Help {
        Help { when, command: None, setting: None, advice: Some(advice.into()) }
    }

    /// The remedy for people.
    pub(crate) fn text(&self) -> &str {
        [&self.command, &self.setting, &self.advice]
            .into_iter()
            .flatten()
            .next()
            .map_or("", |text| text)
    }
}

impl Finding {
    pub(super) fn works(subject: Check, tried: &str, text: impl Into<String>) -> Finding {
        Finding::new(subject, tried, Outcome::Works, text)
    }

    pub(super) fn noted(subject: Check, looked_at: &str, text: impl Into<String>) -> Finding {
        Finding::new(subject, looked_at, Outcome::Noted, text)
    }

    /// Something that does not work because of `cause`.
    pub(super) fn fails(
        subject: Check,
        tried: &str,
        cause: Cause,
        text: impl Into<String>,
    ) -> Finding {
        let mut finding = Finding::new(subject, tried, cause.outcome(), text);
        finding.cause = Some(cause);
        finding
    }

    pub(super) fn with_help(mut self, help: Vec<Help>) -> Finding {
        self.help = help;
        self
    }

    fn new(subject: Check, tried: &str, outcome: Outcome, text: impl Into<String>) -> Finding {
        let text = text.into();
        debug_assert!(!text.contains('\n'), "a finding is one line");
        Finding { subject, tried: tried.into(), outcome, text, cause: None, help: Vec::new() }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Outcome::Works => "works",
            Outcome::InTheWay => "in the way",
            Outcome::Missing => "missing",
            Outcome::Noted => "note",
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Check::SystemCall => "perf_event_open",
            Check::HardwareEvents => "hardware events",
            Check::HardwareGroup => "four at once",
            Check::KernelMode => "kernel mode",
            Check::UserReads => "user-mode reads",
            Check::SoftwareEvents => "software events",
            Check::Ledgers => "without perf",
            Check::Descriptors => "open files",
            Check::LockedMemory => "locked memory",
            Check::Driver => "kernel's driver",
            Check::Watchdog => "NMI watchdog",
            Check::Hybrid => "hybrid cores",
            Check::VirtualMachine => "virtual machine",
            Check::Guests => "KVM's guests",
            Check::Container => "container",
            Check::CpuLimits => "CPU limits",
            Check::ClockSource => "clock source",
        })
    }
}
