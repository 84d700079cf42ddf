//! A report as JSON; `pacman-pmu validate --help` describes the fields.

use crate::validate::checks::{Counted, Outcome, Verdict};
use pacman_core::backend::ReadPath;
use serde_json::{Value, json};

use super::report::{Report, exit_status};

/// Everything, with every repeat.
pub(super) fn report(report: &Report) -> Value {
    let id = report.cpu_id.as_ref();
    json!({
        "processor": {
            "name": report.machine,
            "table": report.table.0,
            "title": report.table.1,
            "vendor": id.map(|id| id.vendor.as_str()),
            "family": id.map(|id| id.family),
            "model": id.map(|id| id.model),
            "stepping": id.map(|id| id.stepping),
        },
        "cpu": report.cpu,
        "repeats": report.repeats,
        "exit_status": exit_status(report),
        "events": report.outcomes.iter().map(event).collect::<Vec<Value>>(),
    })
}

fn event(outcome: &Outcome) -> Value {
    let counted = outcome.result.as_ref().ok();
    let verdict = counted.map(|counted| counted.verdict);
    let (factor, spread, error) = match verdict {
        Some(Verdict::Factor { factor, spread }) => (Some(factor), Some(spread), None),
        Some(Verdict::Within { error }) => (None, None, Some(error)),
        _ => (None, None, None),
    };
    let text = match &outcome.result {
        Ok(counted) => counted.verdict.to_string(),
        Err(error) => error.to_string(),
    };
    json!({
        "event": outcome.name,
        "kernel": outcome.kernel.name(),
        "unit": outcome.unit,
        "native": outcome.native.as_ref().map(|native| json!({
            "expression": native.expression,
            "errata": native.errata,
            "caveat": native.caveat,
        })),
        "verdict": verdict.map_or("not-countable", Verdict::id),
        "text": text,
        "factor": factor,
        "spread": spread,
        "error": error,
        "read_path": counted.map(|counted| match counted.read_path {
            ReadPath::Rdpmc => "rdpmc",
            _ => "read",
        }),
        "doubt": counted.and_then(|counted| counted.doubt),
        "disturbed": counted.map(|counted| counted.disturbed),
        "samples": counted.map_or_else(Vec::new, samples),
    })
}

fn samples(counted: &Counted) -> Vec<Value> {
    counted
        .samples
        .iter()
        .map(|sample| {
            json!({
                "low": sample.truth.low,
                "high": sample.truth.high,
                "counted": sample.counted,
            })
        })
        .collect()
}
