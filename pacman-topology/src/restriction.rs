//! The restrictions of a process: its allowed contexts, and its limit on CPU time.

use pacman_events::plural::noun;
use std::fmt;

use crate::CpuSet;

/// A limit on the CPUs that a process may use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restriction {
    /// The source of the restriction.
    pub by: Restrictor,
    /// The CPUs that the process may still use.
    pub cpus: CpuSet,
}

/// A source of restrictions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restrictor {
    /// The thread's affinity mask: `taskset`, `numactl`, a batch system, or the program itself.
    Affinity,
    /// The cpuset of a cgroup, as of a container or a batch system; the path of its file.
    Cpuset(String),
}

/// A cgroup's limit on CPU time per period.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quota {
    /// CPU time per period, in microseconds, over all threads of the group.
    pub micros: u64,
    /// The period, in microseconds.
    pub period_micros: u64,
    /// The path of the file that sets the limit.
    pub file: String,
}

impl Quota {
    /// The limit in CPUs: the CPU time divided by the period.
    pub fn cpus(&self) -> f64 {
        self.micros as f64 / self.period_micros as f64
    }

    /// The number of threads that the limit can keep busy: the limit in CPUs, rounded up.
    pub fn threads(&self) -> usize {
        usize::try_from(self.micros.div_ceil(self.period_micros.max(1)).max(1))
            .unwrap_or(usize::MAX)
    }
}

/// The kernel's account of a group with a [`Quota`] since the group was made. A throttled group has used up its
/// CPU time, and stands still until the next period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Throttling {
    /// The periods in which the group had work.
    pub periods: u64,
    /// The periods in which it was throttled.
    pub throttled_periods: u64,
    /// The time for which its CPUs stood still, in nanoseconds, over all CPUs.
    pub throttled_nanos: u64,
}

impl Throttling {
    /// The difference to an earlier account of the same group.
    pub fn since(self, earlier: Throttling) -> Throttling {
        Throttling {
            periods: self.periods.saturating_sub(earlier.periods),
            throttled_periods: self.throttled_periods.saturating_sub(earlier.throttled_periods),
            throttled_nanos: self.throttled_nanos.saturating_sub(earlier.throttled_nanos),
        }
    }
}

impl Restrictor {
    /// The remedy, as a phrase in the imperative for an error text.
    pub(crate) fn remedy(&self) -> &'static str {
        match self {
            Restrictor::Affinity => "start the program without taskset or numactl",
            Restrictor::Cpuset(_) => "give the container or job more cpus",
        }
    }
}

impl fmt::Display for Restrictor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Restrictor::Affinity => f.write_str("the affinity mask"),
            Restrictor::Cpuset(file) => write!(f, "the cpuset in {file}"),
        }
    }
}

/// Writes `the affinity mask leaves cpus 0-3`.
impl fmt::Display for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} leaves {} {}", self.by, noun(self.cpus.len(), "cpu"), self.cpus)
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.2} cpus' worth of time ({} of {} us, {})",
            self.cpus(),
            self.micros,
            self.period_micros,
            self.file
        )
    }
}
