//! The metrics that a model can count, and their events.

use std::io::{self, Write};

use pacman_events::allocate::Pmu;
use pacman_metrics::language::{Countable, Metric, one_of_each_name};
use serde::Serialize;

use crate::columns;
use crate::error::CliResult;
use crate::events::Loaded;
use crate::terminal::Fitted;
use pacman_report::document;

/// The metrics of a model.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Name of the table of events.
    cpu: &'a str,
    /// Contexts of a core.
    contexts: u8,
    /// Metrics of the model.
    metrics: Vec<Listed<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Listed<'a> {
    /// Name of the metric.
    name: &'a str,
    /// Unit of the value.
    unit: &'a str,
    /// Formula.
    expression: String,
    /// Meaning.
    text: &'a str,
    /// Source of the formula.
    source: Option<&'a str>,
    /// File and line of the definition.
    origin: String,
    /// Events to count, without the clocks.
    events: Vec<&'a str>,
    /// Whether the model can count it.
    #[cfg_attr(test, schemars(extend("enum" = ["at-once", "by-rotation", "never"])))]
    countable: &'a str,
    /// Number of event sets; null for never.
    sets: Option<usize>,
    /// Reason for `by-rotation` or `never`; null for `at-once`.
    because: Option<&'a str>,
}

/// A table of all, or every field of those that were `named`.
pub(super) fn list(
    metrics: &[&Metric],
    loaded: &Loaded,
    pmu: &Pmu,
    named: bool,
    as_json: bool,
    out: &mut dyn Write,
) -> CliResult {
    let countable = |metric: &Metric| metric.countable(pmu, |event| loaded.resolve(event));
    let is_countable = |metric: &Metric| !matches!(countable(metric), Countable::Never { .. });
    let chosen = one_of_each_name(metrics.iter().copied(), is_countable);
    let answers: Vec<(&Metric, Countable)> =
        chosen.into_iter().map(|metric| (metric, countable(metric))).collect();
    let cpu = loaded.cpu();
    if as_json {
        let metrics = answers.iter().map(|(metric, countable)| object(metric, countable));
        let (cpu, contexts) = (cpu.name(), pmu.contexts());
        document::write(out, &Document { cpu, contexts, metrics: metrics.collect() })?;
        return Ok(0);
    }
    let out = &mut Fitted::stdout(out);
    let contexts = match pmu.contexts() {
        1 => "one context to a core".to_owned(),
        more => format!("{more} contexts to a core"),
    };
    writeln!(out, "{cpu} ({}), {contexts}\n", cpu.title())?;
    if named {
        answers.iter().try_for_each(|(metric, how)| fields(metric, how, out))?;
        return Ok(0);
    }
    let rows: Vec<[String; 4]> = answers
        .iter()
        .map(|(metric, countable)| {
            [
                metric.name().to_owned(),
                briefly(countable),
                metric.unit().to_owned(),
                metric.expression().to_string(),
            ]
        })
        .collect();
    columns::words(out, ["METRIC", "COUNTED", "UNIT", "EXPRESSION"], &rows)?;
    let mut heading = "\nWhy not at once:\n";
    for (metric, countable) in &answers {
        if let Some(because) = because(countable) {
            writeln!(out, "{heading}  {}: {because}", metric.name())?;
            heading = "";
        }
    }
    Ok(0)
}

fn fields(metric: &Metric, countable: &Countable, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", metric.name())?;
    let counted = match because(countable) {
        Some(because) => format!("{}: {because}", briefly(countable)),
        None => briefly(countable),
    };
    for (field, value) in [
        ("tells", metric.text()),
        ("unit", metric.unit()),
        ("formula", &metric.expression().to_string()),
        ("counted", &counted),
        ("source", metric.source().unwrap_or("none given")),
        ("from", &metric.origin().to_string()),
    ] {
        writeln!(out, "  {field:10}{value}")?;
    }
    writeln!(out)
}

fn briefly(countable: &Countable) -> String {
    match countable {
        Countable::AtOnce => "at once".into(),
        Countable::ByRotation { sets, .. } => format!("in {sets} sets"),
        _ => "no".into(),
    }
}

fn because(countable: &Countable) -> Option<&str> {
    match countable {
        Countable::ByRotation { because, .. } | Countable::Never { because } => Some(because),
        _ => None,
    }
}

fn object<'a>(metric: &'a Metric, countable: &'a Countable) -> Listed<'a> {
    let (word, sets) = match countable {
        Countable::AtOnce => ("at-once", Some(1)),
        Countable::ByRotation { sets, .. } => ("by-rotation", Some(*sets)),
        _ => ("never", None),
    };
    Listed {
        name: metric.name(),
        unit: metric.unit(),
        expression: metric.expression().to_string(),
        text: metric.text(),
        source: metric.source(),
        origin: metric.origin().to_string(),
        events: metric.events(),
        countable: word,
        sets,
        because: because(countable),
    }
}
