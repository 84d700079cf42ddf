//! A report as JSON; `pacman-pmu validate --help` describes the fields.

use pacman_core::backend::ReadPath;
use serde::Serialize;

use super::report::{Report, exit_status};
use crate::validate::checks::{Outcome, Verdict};

#[derive(Serialize)]
pub(super) struct Document<'a> {
    processor: Processor<'a>,
    cpu: u32,
    repeats: usize,
    exit_status: u8,
    events: Vec<Event<'a>>,
}

#[derive(Serialize)]
struct Processor<'a> {
    name: &'a str,
    table: &'a str,
    title: &'a str,
    vendor: Option<&'a str>,
    family: Option<u32>,
    model: Option<u32>,
    stepping: Option<u32>,
}

#[derive(Serialize)]
struct Event<'a> {
    event: &'a str,
    kernel: &'a str,
    unit: Option<&'a str>,
    native: Option<Native<'a>>,
    verdict: &'a str,
    text: String,
    factor: Option<f64>,
    spread: Option<f64>,
    error: Option<f64>,
    read_path: Option<&'a str>,
    doubt: Option<&'a str>,
    disturbed: Option<usize>,
    samples: Vec<Sample>,
}

#[derive(Serialize)]
struct Native<'a> {
    expression: &'a str,
    errata: &'a [&'static str],
    caveat: &'a str,
}

#[derive(Serialize)]
struct Sample {
    low: u64,
    high: u64,
    counted: i64,
}

/// Everything, with every repeat.
pub(super) fn report(report: &Report) -> Document<'_> {
    let id = report.cpu_id.as_ref();
    let (table, title) = report.table;
    Document {
        processor: Processor {
            name: &report.machine,
            table,
            title,
            vendor: id.map(|id| id.vendor.as_str()),
            family: id.map(|id| id.family),
            model: id.map(|id| id.model),
            stepping: id.map(|id| id.stepping),
        },
        cpu: report.cpu,
        repeats: report.repeats,
        exit_status: exit_status(report),
        events: report.outcomes.iter().map(event).collect(),
    }
}

fn event(outcome: &Outcome) -> Event<'_> {
    let counted = outcome.result.as_ref().ok();
    let verdict = counted.map(|counted| counted.verdict);
    let (factor, spread, error) = match verdict {
        Some(Verdict::Factor { factor, spread }) => (Some(factor), Some(spread), None),
        Some(Verdict::Within { error }) => (None, None, Some(error)),
        _ => (None, None, None),
    };
    let samples = counted.into_iter().flat_map(|counted| &counted.samples).map(|sample| Sample {
        low: sample.truth.low,
        high: sample.truth.high,
        counted: sample.counted,
    });
    Event {
        event: &outcome.name,
        kernel: outcome.kernel.name(),
        unit: outcome.unit,
        native: outcome.native.as_ref().map(|native| Native {
            expression: &native.expression,
            errata: &native.errata,
            caveat: native.caveat,
        }),
        verdict: verdict.map_or("not-countable", Verdict::id),
        text: match &outcome.result {
            Ok(counted) => counted.verdict.to_string(),
            Err(error) => error.to_string(),
        },
        factor,
        spread,
        error,
        read_path: counted.map(|counted| match counted.read_path {
            ReadPath::Rdpmc => "rdpmc",
            _ => "read",
        }),
        doubt: counted.and_then(|counted| counted.doubt),
        disturbed: counted.map(|counted| counted.disturbed),
        samples: samples.collect(),
    }
}
