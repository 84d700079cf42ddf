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
