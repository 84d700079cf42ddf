//! A diagnosis as JSON; `pacman-pmu doctor --help` describes the fields.

use crate::doctor::checks::{Cause, Diagnosis, Finding};
use serde_json::{Value, json};

use super::status::exit_status;

/// Everything that was found.
pub(super) fn diagnosis(diagnosis: &Diagnosis) -> Value {
    json!({
        "verdict": diagnosis.verdict.id(),
        "exit_status": exit_status(diagnosis.verdict),
        "cause": diagnosis.reason().and_then(|finding| finding.cause).map(Cause::id),
        "text": super::text::verdict(diagnosis),
        "findings": diagnosis.findings.iter().map(finding).collect::<Vec<Value>>(),
    })
}

fn finding(finding: &Finding) -> Value {
    let help: Vec<Value> = finding
        .help
        .iter()
        .map(|help| json!({ "when": help.when, "command": help.command }))
        .collect();
    json!({
        "subject": finding.subject.id(),
        "tried": finding.tried,
        "outcome": finding.outcome.id(),
        "text": finding.text,
        "cause": finding.cause.map(Cause::id),
        "help": help,
    })
}
