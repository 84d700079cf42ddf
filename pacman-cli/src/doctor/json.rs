//! A diagnosis as JSON; `pacman-pmu doctor --help` describes the fields.

use serde::Serialize;

use crate::doctor::checks::{Cause, Diagnosis, Finding, Verdict};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Conclusion.
    verdict: Verdict,
    /// Exit status of the command.
    exit_status: u8,
    /// Cause of the conclusion.
    cause: Option<Cause>,
    /// Conclusion in words.
    text: String,
    /// Checks in the order in which they were made.
    findings: &'a [Finding],
}

/// Everything that was found.
pub(super) fn diagnosis(diagnosis: &Diagnosis) -> Document<'_> {
    Document {
        verdict: diagnosis.verdict,
        exit_status: diagnosis.verdict.exit_status(),
        cause: diagnosis.reason().and_then(|finding| finding.cause),
        text: super::text::verdict(diagnosis),
        findings: &diagnosis.findings,
    }
}
