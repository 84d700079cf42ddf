//! A diagnosis as JSON; `pacman-pmu doctor --help` describes the fields.

use serde::Serialize;

use super::status::exit_status;
use crate::doctor::checks::{self, Cause, Diagnosis};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Conclusion.
    #[cfg_attr(test, schemars(extend("enum" = ["hardware", "software-only", "nothing"])))]
    verdict: &'static str,
    /// Exit status of the command.
    exit_status: u8,
    /// Cause of the conclusion.
    cause: Option<&'static str>,
    /// Conclusion in words.
    text: String,
    /// Checks in the order in which they were made.
    findings: Vec<Finding<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Finding<'a> {
    /// Subject of the check; `pacman-pmu doctor --help` lists all.
    subject: &'static str,
    /// The trial in words.
    tried: &'a str,
    /// Outcome of the trial.
    #[cfg_attr(test, schemars(extend("enum" = ["works", "in-the-way", "missing", "noted"])))]
    outcome: &'static str,
    /// Outcome in words.
    text: &'a str,
    /// Cause of the outcome, or null; `pacman-pmu doctor --help` lists all.
    cause: Option<&'static str>,
    /// Remedies, the nearest first.
    help: Vec<Help<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Help<'a> {
    /// Condition of the remedy.
    when: &'a str,
    /// Command that is the remedy.
    command: &'a str,
}

/// Everything that was found.
pub(super) fn diagnosis(diagnosis: &Diagnosis) -> Document<'_> {
    Document {
        verdict: diagnosis.verdict.id(),
        exit_status: exit_status(diagnosis.verdict),
        cause: diagnosis.reason().and_then(|finding| finding.cause).map(Cause::id),
        text: super::text::verdict(diagnosis),
        findings: diagnosis.findings.iter().map(finding).collect(),
    }
}

fn finding(finding: &checks::Finding) -> Finding<'_> {
    let help = finding.help.iter().map(|help| Help { when: help.when, command: &help.command });
    Finding {
        subject: finding.subject.id(),
        tried: &finding.tried,
        outcome: finding.outcome.id(),
        text: &finding.text,
        cause: finding.cause.map(Cause::id),
        help: help.collect(),
    }
}
