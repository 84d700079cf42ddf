//! Everything that was found, and the verdict.

use std::fmt;

use serde::Serialize;

use super::finding::{Check, Finding};

/// Everything found out about counting on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Diagnosis {
    /// The conclusion.
    pub(crate) verdict: Verdict,
    /// One finding a subject, in the order in which things were tried.
    pub(crate) findings: Vec<Finding>,
}

/// The conclusion of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub(crate) enum Verdict {
    /// At least one hardware event opens and counts.
    Hardware,
    /// No hardware event counts, at least one software event does.
    SoftwareOnly,
    /// No event counts.
    Nothing,
}

impl Diagnosis {
    /// The finding about `subject`, if there was anything to say about it.
    pub(crate) fn finding(&self, subject: Check) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.subject == subject)
    }

    /// The finding that keeps the verdict from being better; `None` where
    /// hardware counting works.
    pub(crate) fn reason(&self) -> Option<&Finding> {
        match self.verdict {
            Verdict::Hardware => None,
            Verdict::SoftwareOnly => self.finding(Check::HardwareEvents),
            Verdict::Nothing => self.finding(Check::SoftwareEvents),
        }
    }
}

impl Verdict {
    /// The exit status of the command: 0 when hardware counting works, 3 when only software events do, 1 when nothing does.
    pub(crate) fn exit_status(self) -> u8 {
        match self {
            Verdict::Hardware => 0,
            Verdict::SoftwareOnly => 3,
            Verdict::Nothing => 1,
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
