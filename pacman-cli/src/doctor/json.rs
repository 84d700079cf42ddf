//! A diagnosis as JSON; `pacman-pmu doctor --help` describes the fields.

use serde::Serialize;

use super::status::exit_status;
use crate::doctor::checks::{self, Cause, Diagnosis};

#[derive(Serialize)]
pub(super) struct Document<'a> {
    verdict: &'static str,
    exit_status: u8,
    cause: Option<&'static str>,
    text: String,
    findings: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct Finding<'a> {
    subject: &'static str,
    tried: &'a str,
    outcome: &'static str,
    text: &'a str,
    cause: Option<&'static str>,
    help: Vec<Help<'a>>,
}

#[derive(Serialize)]
struct Help<'a> {
    when: &'a str,
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
