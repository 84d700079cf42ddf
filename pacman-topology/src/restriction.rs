//! The restrictions of a process: contexts that it may not use, and CPU time that it does not get.

use std::fmt;

use crate::CpuSet;

/// Someone who allows only some of the machine's CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restriction {
    /// The source of the restriction.
    pub by: Restrictor,
    /// The CPUs that are left.
    pub cpus: CpuSet,
}

/// A source of restrictions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restrictor {
    /// The thread's affinity mask: `taskset`, `numactl`, a batch system, or the program itself.
    Affinity,
    /// A cgroup's cpuset: a container's or a batch system's; the file that says so.
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
    /// The file that says so.
    pub file: String,
}

impl Quota {
    /// The limit in CPUs' worth of time.
    pub fn cpus(&self) -> f64 {
        self.micros as f64 / self.period_micros as f64
    }
}

impl Restrictor {
    /// The remedy, as an imperative.
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

/// `the affinity mask leaves cpus 0-3`.
impl fmt::Display for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.cpus.len() == 1 { "cpu" } else { "cpus" };
        write!(f, "{} leaves {noun} {}", self.by, self.cpus)
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
