//! What this process can count on this machine, and what is in the way.
//!
//! Nothing is guessed from settings alone: every kind of event is opened for the
//! calling thread exactly as a session opens it, and has to count. Settings only
//! explain what failed, because one `errno` has many causes.
//!
//! ```
//! use pacman_core::doctor::{Diagnosis, Verdict};
//!
//! let diagnosis = Diagnosis::examine();
//! if diagnosis.verdict != Verdict::Hardware {
//!     let cause = diagnosis.reason().expect("a machine that cannot count has a reason");
//!     println!("{}: {}", diagnosis.verdict, cause.text);
//! }
//! ```

mod cause;
mod examine;
mod finding;
mod limits;
mod remedy;
mod surroundings;
#[cfg(test)]
mod tests;
mod trial;
mod witness;

pub use cause::Cause;
pub use finding::{Finding, Help, Outcome, Subject};
pub use surroundings::Surroundings;

use std::fmt;

use crate::backend::perf::{Kernel, PerfSys, Standing};
use crate::platform::{self, PlatformRef};

/// Everything found out about counting on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// What it comes down to.
    pub verdict: Verdict,
    /// One finding a subject, in the order in which things were tried.
    pub findings: Vec<Finding>,
}

/// What it comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// At least one hardware event opens and counts.
    Hardware,
    /// No hardware event counts, at least one software event does.
    SoftwareOnly,
    /// No event counts.
    Nothing,
}

impl Diagnosis {
    /// Examines this process on this machine: opens events for the calling
    /// thread, and closes them again.
    ///
    /// On a simulated machine its kernel is examined, among surroundings without limits; no help
    /// is given there, for a command would change the real machine.
    pub fn examine() -> Diagnosis {
        Diagnosis::examine_on(platform::current())
    }

    /// As [`examine`](Self::examine), on a machine that need not be the one that the process counts on.
    pub fn examine_on(platform: &PlatformRef) -> Diagnosis {
        let standing = platform.permissions();
        let Some(sys) = platform.perf() else {
            return Diagnosis::examine_with(Kernel, &standing, &Surroundings::read());
        };
        let mut diagnosis = Diagnosis::examine_with(sys, &standing, &Surroundings::unlimited());
        diagnosis.findings.iter_mut().for_each(|finding| finding.help.clear());
        diagnosis
    }

    /// As [`examine`](Self::examine), on another kernel seam and other facts.
    pub fn examine_with<S: PerfSys + Clone>(
        sys: S,
        standing: &Standing,
        surroundings: &Surroundings,
    ) -> Diagnosis {
        examine::examine(sys, standing, surroundings)
    }

    /// The finding about `subject`, if there was anything to say about it.
    pub fn finding(&self, subject: Subject) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.subject == subject)
    }

    /// The finding that keeps the verdict from being better; `None` where
    /// hardware counting works.
    pub fn reason(&self) -> Option<&Finding> {
        match self.verdict {
            Verdict::Hardware => None,
            Verdict::SoftwareOnly => self.finding(Subject::HardwareEvents),
            Verdict::Nothing => self.finding(Subject::SoftwareEvents),
        }
    }
}

impl Verdict {
    /// The name that programs see: `hardware`, `software-only`, `nothing`.
    pub fn id(self) -> &'static str {
        match self {
            Verdict::Hardware => "hardware",
            Verdict::SoftwareOnly => "software-only",
            Verdict::Nothing => "nothing",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Hardware => "hardware counting works",
            Verdict::SoftwareOnly => "only software events work",
            Verdict::Nothing => "nothing can be counted",
        })
    }
}
