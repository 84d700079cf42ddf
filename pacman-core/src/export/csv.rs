//! CSV in long form, for data frames.

use std::fmt::{Display, Write as _};
use std::io;

use super::values::{count_of, only_set, phase_name, read_path_code, state_code};
use crate::report::{PhaseReport, Report, ThreadReport};

/// Writes a report as CSV: a header, then one row per phase and thread.
///
/// Rows are ordered by phase, in the order of [`Report::phases`], then by thread number. A phase
/// that a thread never ran has no row. Columns come in this order and keep it. New columns will be
/// added at the end of their part:
///
/// 1. thread: `session`, `simulated` (`true` or `false`), `phase`, `thread`, `tid`,
///    `thread_name`, `state` (`attached`, `detached` or `exited`), `package`,
///    `core`, `sibling`, `cpu`, `node`, `core_type`, `bound`, `attached_ns`,
///    `read_path` (`rdpmc` or `read`);
/// 2. executions: `executions`, `recursions`, `panics`, `time_ns`, `time_min_ns`, `time_max_ns`
///    (sums over the executions, and the extremes of one execution); `open`, executions that were
///    begun and have not ended; `implausible`, executions set aside because of an impossible
///    value. The last two are in no other figure;
/// 3. for each event, here with the name `CYCLES`: `CYCLES [cycles]`, `CYCLES min [cycles]` and
///    `CYCLES max [cycles]`, all raw; `CYCLES scaled [cycles]`, the estimate of the sum if the
///    counters were on for only a part of the time, or if other executions counted another set;
///    `CYCLES enabled [ns]` and `CYCLES running [ns]`, whose ratio is that part; `CYCLES samples
///    [executions]`, the executions that counted the event; and `CYCLES set [number]`, its set if
///    sets rotated, from 0.
///
/// An event whose counts may be wrong, because the kernel's driver is not trusted on this
/// processor, has a question mark behind its name: `CYCLES? [cycles]`.
///
/// The unit is the last word of a header, after `_` in columns that every report
/// has and in brackets in those of its events. In pandas,
/// `df.columns = df.columns.str.replace(r" \[.*\]$", "", regex=True)` drops the
/// brackets, and `df["CYCLES scaled"].fillna(df["CYCLES"])` is the best figure.
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
    let mut line = Line::new(out);
    for name in WHO.iter().chain(&WHAT) {
        line.text(name);
    }
    for event in &report.events {
        let (name, unit) = (event.title(), event.unit);
        for part in ["", " min", " max", " scaled"] {
            line.text(&format!("{name}{part} [{unit}]"));
        }
        line.text(&format!("{name} enabled [ns]"));
        line.text(&format!("{name} running [ns]"));
        line.text(&format!("{name} samples [executions]"));
        line.text(&format!("{name} set [number]"));
    }
    line.end()?;
    let mut rows: Vec<(&PhaseReport, &ThreadReport)> = report
        .threads
        .iter()
        .flat_map(|thread| thread.phases.iter().map(move |row| (row, thread)))
        .collect();
    // Stable: threads stay in their order within a phase.
    rows.sort_by_key(|(row, _)| row.phase);
    for (row, thread) in rows {
        line.text(&report.session);
        line.number(report.simulated);
        line.text(phase_name(report, row.phase));
        who(&mut line, thread);
        what(&mut line, report, row);
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
    let mut line = Line::new(out);
    for name in LOGGED {
        line.text(name);
    }
    for event in &report.events {
        line.text(&format!("{} [{}]", event.title(), event.unit));
    }
    line.end()?;
    for thread in &report.threads {
        for (number, sample) in thread.log.iter().enumerate() {
            line.text(&report.session);
            line.number(report.simulated);
            line.number(thread.number);
            line.number(thread.tid);
            line.maybe_text(thread.name.as_deref());
            line.maybe(thread.place.map(|place| place.cpu));
            line.number(number);
            line.text(phase_name(report, sample.phase));
            line.number(sample.begin);
            line.number(sample.end);
            line.number(sample.end.saturating_sub(sample.begin));
            line.number(sample.set);
            for event in 0..report.events.len() {
                line.maybe(sample.count(report, event));
            }
            line.end()?;
        }
    }
    out.flush()
}

fn who(line: &mut Line<'_>, thread: &ThreadReport) {
    line.number(thread.number);
    line.number(thread.tid);
    line.maybe_text(thread.name.as_deref());
    line.text(state_code(thread.state));
    let place = thread.place;
    line.maybe(place.map(|place| place.package));
    line.maybe(place.map(|place| place.core));
    line.maybe(place.map(|place| place.sibling));
    line.maybe(place.map(|place| place.cpu));
    line.maybe(place.map(|place| place.node));
    line.maybe(place.map(|place| place.core_type));
    line.maybe(place.map(|place| place.bound));
    line.number(thread.attached);
    line.text(read_path_code(thread.read_path));
}

fn what(line: &mut Line<'_>, report: &Report, row: &PhaseReport) {
    line.number(row.executions);
    line.number(row.recursions);
    line.number(row.panics);
    let time = (row.executions > 0).then_some(row.time);
    line.maybe(time.map(|time| time.sum));
    line.maybe(time.map(|time| time.min));
    line.maybe(time.map(|time| time.max));
    line.number(row.open);
    line.number(row.implausible.as_ref().map_or(0, |aside| aside.executions));
    for event in 0..report.events.len() {
        let count = count_of(row, event).ok();
        line.maybe(count.map(|count| count.raw.sum));
        line.maybe(count.map(|count| count.raw.min));
        line.maybe(count.map(|count| count.raw.max));
        line.maybe(count.and_then(|count| count.scaled));
        // The two times stay if the count is absent: they are the reason.
        let times = row.counts.get(event).filter(|count| count.enabled_ns > 0);
        line.maybe(times.map(|count| count.enabled_ns));
        line.maybe(times.map(|count| count.running_ns));
        line.maybe(row.counts.get(event).map(|count| count.samples));
        line.maybe(only_set(report, event));
    }
}

/// A line that is being written.
struct Line<'a> {
    out: &'a mut dyn io::Write,
    text: String,
    fields: usize,
}

impl<'a> Line<'a> {
    fn new(out: &'a mut dyn io::Write) -> Line<'a> {
        Line { out, text: String::new(), fields: 0 }
    }

    fn separate(&mut self) {
        if self.fields > 0 {
            self.text.push(',');
        }
        self.fields += 1;
    }

    /// A field of text; empty text is quoted, so that it is not an absent value.
    fn text(&mut self, field: &str) {
        self.separate();
        if field.is_empty() || field.contains([',', '"', '\n', '\r']) {
            self.text.push('"');
            self.text.push_str(&field.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(field);
        }
    }

    /// A field whose text never needs quotes.
    fn number(&mut self, field: impl Display) {
        self.maybe(Some(field));
    }

    fn maybe(&mut self, field: Option<impl Display>) {
        self.separate();
        if let Some(field) = field {
            write!(self.text, "{field}").expect("a String takes all");
        }
    }

    fn maybe_text(&mut self, field: Option<&str>) {
        match field {
            Some(field) => self.text(field),
            None => self.separate(),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.text.push('\n');
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.fields = 0;
        Ok(())
    }
}

const WHO: [&str; 16] = [
    "session",
    "simulated",
    "phase",
    "thread",
    "tid",
    "thread_name",
    "state",
    "package",
    "core",
    "sibling",
    "cpu",
    "node",
    "core_type",
    "bound",
    "attached_ns",
    "read_path",
];

const WHAT: [&str; 8] = [
    "executions",
    "recursions",
    "panics",
    "time_ns",
    "time_min_ns",
    "time_max_ns",
    "open",
    "implausible",
];

const LOGGED: [&str; 12] = [
    "session",
    "simulated",
    "thread",
    "tid",
    "thread_name",
    "cpu",
    "sample",
    "phase",
    "begin_ns",
    "end_ns",
    "time_ns",
    "set",
];
