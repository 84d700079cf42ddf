//! Counts, rates and metrics of the JSON report.

use serde::Serialize;

use super::report::{self, Columns};
use crate::document::ByName;

#[derive(Serialize)]
struct Figures<C, S, N, O, R, M> {
    counts: C,
    counted_shares: Option<S>,
    margins: Option<N>,
    reading_shares: O,
    complete: bool,
    rates: R,
    metrics: M,
}

/// JSON shows absent values as null.
pub(super) fn figures<'a>(
    columns: &'a Columns,
    figures: &'a report::Figures,
) -> impl Serialize + 'a {
    let names = || columns.events.iter().map(|event| &event.name);
    let counts = || figures.counts.iter().map(|count| count.map(|count| count.value));
    let shares = || figures.shares.iter();
    let margins = || figures.counts.iter().map(|count| count.map(|count| count.margin));
    let readings = || figures.counts.iter().map(|count| count.and_then(|count| count.readings));
    let metrics = || columns.metrics.iter().map(|metric| metric.name());
    Figures {
        counts: ByName(move || names().zip(counts())),
        counted_shares: columns.rotate().then_some(ByName(move || names().zip(shares()))),
        margins: columns.rotate().then_some(ByName(move || names().zip(margins()))),
        reading_shares: ByName(move || names().zip(readings())),
        complete: figures.counts.iter().flatten().all(|count| count.is_complete),
        rates: ByName(move || names().zip(&figures.rates)),
        metrics: ByName(move || metrics().zip(&figures.metrics)),
    }
}
