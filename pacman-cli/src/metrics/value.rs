//! Metrics computed from the counts of a file.

use std::io::Write;

use pacman_metrics::language::{Metric, one_of_each_name};
use serde::Serialize;

use crate::columns;
use crate::counts::Counted;
use crate::error::{self, CliError, CliResult};
use pacman_report::document;

/// With `--counts`, a metric that was computed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Computed<'a> {
    /// Name of the metric.
    name: &'a str,
    /// Unit of the value.
    unit: &'a str,
    /// Value; null if it cannot be computed.
    value: Option<f64>,
    /// Reason for the lack of a value.
    because: Option<String>,
}

/// Writes the values. If metrics were `named`, each must have a value, or the exit status is 1.
/// Otherwise metrics without a value are listed after the others.
pub(super) fn values(
    metrics: &[&Metric],
    counts: &[Counted<'_>],
    file: &str,
    named: bool,
    as_json: bool,
    out: &mut dyn Write,
) -> CliResult {
    let has_value = |metric: &Metric| value(metric, counts, file).is_ok();
    let chosen = one_of_each_name(metrics.iter().copied(), has_value);
    let answers: Vec<(&Metric, CliResult<f64>)> =
        chosen.into_iter().map(|metric| (metric, value(metric, counts, file))).collect();
    let missing: Vec<&(&Metric, CliResult<f64>)> =
        answers.iter().filter(|(_, value)| value.is_err()).collect();
    let status = u8::from(named && !missing.is_empty());
    if as_json {
        let list = answers.iter().map(|(metric, value)| Computed {
            name: metric.name(),
            unit: metric.unit(),
            value: value.as_ref().ok().copied(),
            because: value.as_ref().err().map(ToString::to_string),
        });
        document::write(out, &list.collect::<Vec<_>>())?;
        return Ok(status);
    }
    let rows: Vec<[String; 3]> = answers
        .iter()
        .filter_map(|(metric, value)| {
            let value = figure(*value.as_ref().ok()?);
            Some([metric.name().to_owned(), value, metric.unit().to_owned()])
        })
        .collect();
    if !rows.is_empty() {
        columns::words(out, ["METRIC", "VALUE", "UNIT"], &rows)?;
    }
    if named {
        // Before the refusal, so that both come in order where they go to one terminal.
        out.flush()?;
        missing.iter().filter_map(|(_, value)| value.as_ref().err()).for_each(|because| {
            error::complain(because);
        });
    } else if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|(metric, _)| metric.name()).collect();
        writeln!(out, "\nnot computable from {file}: {}", names.join(", "))?;
    }
    Ok(status)
}

fn value(metric: &Metric, counts: &[Counted<'_>], file: &str) -> CliResult<f64> {
    let find = |name: &str| counts.iter().find(|counted| counted.event.eq_ignore_ascii_case(name));
    metric.value(|name| find(name).map(|counted| counted.count)).map_err(|error| {
        let names = metric.expression().names();
        let absent = names.into_iter().find(|name| find(name).is_none());
        let near = absent
            .map(|name| pacman_events::nearest(name, counts.iter().map(|counted| counted.event)));
        match near.as_deref() {
            None | Some([]) => CliError::refused(error),
            Some(near) => {
                CliError::Refused(format!("{error}; nearest in {file}: {}", near.join(", ")))
            }
        }
    })
}

/// Four digits behind the point, and none where there are more than six before it.
fn figure(value: f64) -> String {
    if value >= 1e6 { format!("{value:.0}") } else { format!("{value:.4}") }
}
