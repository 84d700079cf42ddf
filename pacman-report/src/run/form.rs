//! The forms of a report.

use std::borrow::Borrow;
use std::io::{self, Write};
use std::path::Path;

use super::report::{Column, ProcessReport, Report};
use super::text::Extent;
use super::{csv, json, open_metrics, page, talp, text, trace};

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tables for people.
    Text,
    /// A row for each region and thread.
    Csv,
    /// The document that has everything.
    Json,
    /// The page.
    Html,
    /// TALP's JSON.
    Talp,
    /// A trace for viewers of timelines.
    Trace,
    /// The same in Perfetto's own format.
    Perfetto,
    /// Samples for Prometheus.
    OpenMetrics,
}

/// The endings of files, and their forms; an earlier one has precedence.
const ENDINGS: [(&str, Form); 10] = [
    (".trace.json", Form::Trace),
    (".talp.json", Form::Talp),
    (".txt", Form::Text),
    (".csv", Form::Csv),
    (".json", Form::Json),
    (".prom", Form::OpenMetrics),
    (".pftrace", Form::Perfetto),
    (".perfetto-trace", Form::Perfetto),
    (".html", Form::Html),
    (".htm", Form::Html),
];

impl Form {
    /// The form that a file's name asks for; `None` if it has none of the endings.
    pub fn of(path: &Path) -> Option<Form> {
        let name = path.file_name()?.to_ascii_lowercase();
        let name = name.as_encoded_bytes();
        let has = |ending: &str| name.ends_with(ending.as_bytes()) && name.len() > ending.len();
        ENDINGS.iter().find(|(ending, _)| has(ending)).map(|(_, form)| *form)
    }

    /// A report in this form. Lines of text have at most `width` columns.
    pub fn bytes(self, report: &Report, extent: Extent, width: usize) -> Vec<u8> {
        match self {
            Form::Text => text::write(report, extent, width).into(),
            Form::Csv => csv::write(report).into(),
            Form::Json => json::write(report).into(),
            Form::Html => page::of(report).into(),
            Form::OpenMetrics => open_metrics::write(report).into(),
            Form::Talp | Form::Trace | Form::Perfetto => {
                let mut bytes = Vec::new();
                let streamed = self.stream(report, report.processes.iter(), &[], &mut bytes);
                streamed.expect("memory takes everything");
                bytes
            }
        }
    }

    /// Whether a report can be written one process at a time: text and page show what a report has in memory.
    pub fn streams(self) -> bool {
        !matches!(self, Form::Text | Form::Html)
    }

    /// Writes the report of these processes, one after the other, which together counted these events.
    ///
    /// # Errors
    /// Those of `out`.
    pub(super) fn stream<P: Borrow<ProcessReport>>(
        self,
        report: &Report,
        processes: impl Iterator<Item = P>,
        events: &[Column],
        mut out: &mut impl Write,
    ) -> io::Result<()> {
        match self {
            Form::Csv => csv::stream(processes, events, &mut out)?,
            Form::Talp => talp::stream(report, processes, &mut out)?,
            Form::Trace => trace::stream(report, processes, &mut out)?,
            Form::Perfetto => trace::stream_perfetto(report, processes, &mut out)?,
            Form::OpenMetrics => open_metrics::stream(report, processes, &mut out)?,
            Form::Json => json::stream(report, processes, &mut out)?,
            Form::Text | Form::Html => {
                unreachable!("{self:?} is not written one process at a time")
            }
        }
        out.flush()
    }
}
