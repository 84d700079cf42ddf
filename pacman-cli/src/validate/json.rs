//! A report as JSON; `pacman-pmu validate --help` describes the fields.

use pacman_core::backend::ReadPath;
use serde::Serialize;

use super::{Report, exit_status};
use crate::validate::checks::{Native, Outcome, Sample, Verdict};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Processor that was measured.
    processor: Processor<'a>,
    /// Context that it was measured on: the kernel's number.
    cpu: u32,
    /// Repeats of each measurement.
    repeats: usize,
    /// Exit status of the command.
    exit_status: u8,
    /// Measured events.
    events: Vec<Event<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Processor<'a> {
    /// Name by CPUID.
    name: &'a str,
    /// Table of events.
    table: &'a str,
    /// Processors of the table.
    title: &'a str,
    /// Vendor by CPUID; null if it is not known.
    vendor: Option<&'a str>,
    /// Family by CPUID.
    family: Option<u32>,
    /// Model by CPUID.
    model: Option<u32>,
    /// Stepping by CPUID.
    stepping: Option<u32>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Event<'a> {
    /// Name of the event.
    event: &'a str,
    /// Code that makes it happen.
    kernel: &'a str,
    /// Unit of one count.
    unit: Option<&'a str>,
    /// Events of the hardware behind it; null for an event of the kernel.
    native: Option<&'a Native>,
    /// Verdict.
    #[cfg_attr(test, schemars(extend("enum" = ["exact", "within", "over", "under", "unusable", "not-countable"])))]
    verdict: &'a str,
    /// Verdict in words.
    text: String,
    /// Systematic factor.
    factor: Option<f64>,
    /// Greatest deviation of a repeat from the factor.
    spread: Option<f64>,
    /// Greatest relative error.
    error: Option<f64>,
    /// How counts were read.
    #[cfg_attr(test, schemars(extend("enum" = ["rdpmc", "read", null])))]
    read_path: Option<&'a str>,
    /// Reason why all counts may be wrong.
    doubt: Option<&'a str>,
    /// Repeats that were disturbed.
    disturbed: Option<usize>,
    /// Counts and truth of each repeat.
    samples: &'a [Sample],
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
    Event {
        event: &outcome.name,
        kernel: outcome.kernel.name(),
        unit: outcome.unit,
        native: outcome.native.as_ref(),
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
        samples: counted.map_or(&[], |counted| &counted.samples),
    }
}
