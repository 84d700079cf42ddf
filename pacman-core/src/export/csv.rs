//! CSV in long form, for data frames.

use std::fmt::{Display, Write as _};
use std::io;

use super::values::{count_of, only_set, phase_name, read_path_code, state_code};
use crate::report::{
    CountReport, LoggedSample, PhaseReport, PlaceReport, Report, Stat, ThreadReport,
};

/// Writes a report as CSV: a header, then one row per phase and thread.
///
/// Rows are ordered by phase, in the order of [`Report::phases`], then by thread number. A phase
/// that a thread never ran has no row. First come columns of the thread, then those of the executions,
/// then those of each event, such as `CYCLES min [cycles]`; `docs/output.md` lists all. New columns will
/// be added at the end of their part. Executions that are `open` or `implausible` are in no other figure.
///
/// An event whose counts may be wrong, because the kernel's driver is not trusted on this
/// processor, has a question mark behind its name: `CYCLES? [cycles]`.
///
/// The unit is the last word of a header, after `_` in columns that every report
/// has and in brackets in those of its events.
///
/// A field without a value is empty, never 0. Empty are
///
/// - unknown places,
/// - counts of a group that never counted, and of a set that was not on the counters,
/// - `scaled` if the raw count is exact,
/// - `enabled` and `running` if the counters cannot be off,
/// - `set` of an event that every set counts,
/// - times and counts of a phase without a finished execution.
///
/// Fields are quoted as in RFC 4180, numbers are decimal integers without grouping, lines end
/// in a line feed, and the text is UTF-8.
///
/// # Errors
/// The error of `out`, such as `BrokenPipe`; the part that was written stays.
///
/// ```
/// use pacman_core::{Session, export};
/// let session = Session::builder("doc-csv").events("task-clock").start()?;
/// let thread = session.attach()?;
/// thread.run(session.phase("sum, twice")?, || ())?;
///
/// let mut text = Vec::new();
/// export::csv(&session.report(), &mut text)?;
/// let text = String::from_utf8(text)?;
/// assert!(text.lines().next().unwrap().contains(",time_ns,"));
/// assert!(text.contains("doc-csv,false,\"sum, twice\",0,"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn csv(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut line = Line { out, text: String::new() };
    ROW.iter().for_each(|(name, _)| line.field(Some(name)));
    for event in &report.events {
        for (part, unit, _) in &COUNT {
            let unit = if unit.is_empty() { event.unit } else { unit };
            line.field(Some(format_args!("{}{part} [{unit}]", event.title())));
        }
    }
    line.end()?;
    let mut rows: Vec<Of<'_, PhaseReport>> = report
        .threads
        .iter()
        .flat_map(|thread| thread.phases.iter().map(move |row| Of { report, thread, row }))
        .collect();
    // Stable: threads stay in their order within a phase.
    rows.sort_by_key(|of| of.row.phase);
    for of in rows {
        ROW.iter().for_each(|(_, value)| line.field(value(&of)));
        for event in 0..report.events.len() {
            COUNT.iter().for_each(|(.., value)| line.field(value(&of, event)));
        }
        line.end()?;
    }
    out.flush()
}

/// Writes the logged samples as CSV: a header, then one row per execution.
///
/// Rows are ordered by thread, then in the order in which the thread finished them. Columns:
/// `session`, `simulated`, `thread`, `tid`, `thread_name`, `cpu`, `sample` (its number in the
/// thread's log, from 0), `phase`, `begin_ns` and `end_ns` since the session began, `time_ns`, and
/// `set` (the number of the counted set). Then each event has its raw count in that one execution,
/// such as `CYCLES [cycles]`, empty if it was not in that set. Quoting and absent values are as for
/// [`csv()`]. Samples that found no room are not here; [`ThreadReport::log_dropped`] has their
/// number.
///
/// # Errors
/// The error of `out`, such as `BrokenPipe`; the part that was written stays.
///
/// ```
/// use pacman_core::{Session, export};
/// let session = Session::builder("doc-csv-log").events("task-clock").log(8).start()?;
/// let thread = session.attach()?;
/// let step = session.phase("step")?;
/// for _ in 0..3 {
///     thread.run(step, || ())?;
/// }
/// let mut text = Vec::new();
/// export::csv_log(&session.report(), &mut text)?;
/// assert_eq!(String::from_utf8(text)?.lines().count(), 1 + 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn csv_log(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut line = Line { out, text: String::new() };
    SAMPLE.iter().for_each(|(name, _)| line.field(Some(name)));
    for event in &report.events {
        line.field(Some(format_args!("{} [{}]", event.title(), event.unit)));
    }
    line.end()?;
    for thread in &report.threads {
        for row in thread.log.iter().enumerate() {
            let of = Of { report, thread, row: &row };
            SAMPLE.iter().for_each(|(_, value)| line.field(value(&of)));
            for event in 0..report.events.len() {
                line.field(row.1.count(report, event));
            }
            line.end()?;
        }
    }
    out.flush()
}

/// A row of a thread in a report.
struct Of<'a, R> {
    report: &'a Report,
    thread: &'a ThreadReport,
    row: &'a R,
}

type Row<'a> = Of<'a, PhaseReport>;

/// The field of a row, empty where the value is absent.
type Field = Option<String>;
type RowValue = fn(&Row<'_>) -> Field;
type SampleValue = fn(&Logged<'_>) -> Field;
type CountValue = fn(&Row<'_>, usize) -> Field;

impl Row<'_> {
    fn place(&self, value: fn(&PlaceReport) -> String) -> Field {
        self.thread.place.as_ref().map(value)
    }

    /// Of the finished executions' times, which are absent if there are none.
    fn time(&self, value: fn(&Stat) -> u64) -> Field {
        (self.row.executions > 0).then(|| value(&self.row.time).to_string())
    }

    fn count(&self, event: usize, value: fn(&CountReport) -> u64) -> Field {
        count_of(self.row, event).ok().map(|count| value(count).to_string())
    }

    /// Of the two times of a group, which stay if the count is absent: they are the reason.
    fn times(&self, event: usize, value: fn(&CountReport) -> u64) -> Field {
        let count = self.row.counts.get(event).filter(|count| count.enabled_ns > 0);
        count.map(|count| value(count).to_string())
    }
}

fn some(value: impl ToString) -> Field {
    Some(value.to_string())
}

/// The columns of a phase on a thread.
const ROW: [(&str, RowValue); 24] = [
    ("session", |of| some(&of.report.session)),
    ("simulated", |of| some(of.report.simulated)),
    ("phase", |of| some(phase_name(of.report, of.row.phase))),
    ("thread", |of| some(of.thread.number)),
    ("tid", |of| some(of.thread.tid)),
    ("thread_name", |of| of.thread.name.clone()),
    ("state", |of| some(state_code(of.thread.state))),
    ("package", |of| of.place(|place| place.package.to_string())),
    ("core", |of| of.place(|place| place.core.to_string())),
    ("sibling", |of| of.place(|place| place.sibling.to_string())),
    ("cpu", |of| of.place(|place| place.cpu.to_string())),
    ("node", |of| of.place(|place| place.node.to_string())),
    ("core_type", |of| of.place(|place| place.core_type.to_string())),
    ("bound", |of| of.place(|place| place.bound.to_string())),
    ("attached_ns", |of| some(of.thread.attached)),
    ("read_path", |of| some(read_path_code(of.thread.read_path))),
    ("executions", |of| some(of.row.executions)),
    ("recursions", |of| some(of.row.recursions)),
    ("panics", |of| some(of.row.panics)),
    ("time_ns", |of| of.time(|time| time.sum)),
    ("time_min_ns", |of| of.time(|time| time.min)),
    ("time_max_ns", |of| of.time(|time| time.max)),
    ("open", |of| some(of.row.open)),
    ("implausible", |of| some(of.row.implausible.as_ref().map_or(0, |aside| aside.executions))),
];

/// The columns of an event: what follows its name, the unit if it is not the event's, and the value.
const COUNT: [(&str, &str, CountValue); 8] = [
    ("", "", |of, event| of.count(event, |count| count.raw.sum)),
    (" min", "", |of, event| of.count(event, |count| count.raw.min)),
    (" max", "", |of, event| of.count(event, |count| count.raw.max)),
    (" scaled", "", |of, event| Some(count_of(of.row, event).ok()?.scaled?.to_string())),
    (" enabled", "ns", |of, event| of.times(event, |count| count.enabled_ns)),
    (" running", "ns", |of, event| of.times(event, |count| count.running_ns)),
    (" samples", "executions", |of, event| Some(of.row.counts.get(event)?.samples.to_string())),
    (" set", "number", |of, event| only_set(of.report, event).map(|set| set.to_string())),
];

type Logged<'a> = Of<'a, (usize, &'a LoggedSample)>;

/// The columns of a logged sample, whose row has its number.
const SAMPLE: [(&str, SampleValue); 12] = [
    ("session", |of| some(&of.report.session)),
    ("simulated", |of| some(of.report.simulated)),
    ("thread", |of| some(of.thread.number)),
    ("tid", |of| some(of.thread.tid)),
    ("thread_name", |of| of.thread.name.clone()),
    ("cpu", |of| of.thread.place.map(|place| place.cpu.to_string())),
    ("sample", |of| some(of.row.0)),
    ("phase", |of| some(phase_name(of.report, of.row.1.phase))),
    ("begin_ns", |of| some(of.row.1.begin)),
    ("end_ns", |of| some(of.row.1.end)),
    ("time_ns", |of| some(of.row.1.end.saturating_sub(of.row.1.begin))),
    ("set", |of| some(of.row.1.set)),
];

/// A line that is being written.
struct Line<'a> {
    out: &'a mut dyn io::Write,
    text: String,
}

impl Line<'_> {
    /// A field; an empty text is quoted, so that it is not an absent value.
    fn field(&mut self, value: Option<impl Display>) {
        if let Some(value) = value {
            let begin = self.text.len();
            write!(self.text, "{value}").expect("a String takes all");
            let field = &self.text[begin..];
            if field.is_empty() || field.contains([',', '"', '\n', '\r']) {
                let quoted = format!("\"{}\"", field.replace('"', "\"\""));
                self.text.replace_range(begin.., &quoted);
            }
        }
        self.text.push(',');
    }

    fn end(&mut self) -> io::Result<()> {
        self.text.pop();
        self.text.push('\n');
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}
