//! One JSON document with everything a report holds.

mod writer;

use std::io;

use self::writer::Writer;
use super::values::{count_of, read_path_code, rotation_code, state_code};
use crate::report::Stat;
use crate::report::{LoggedSample, PhaseReport, Report, ThreadReport};

/// The version of the document's schema. It is raised when a member is removed or changes its
/// meaning, not when one is added.
const VERSION: u32 = 1;

/// Writes a report as one JSON document, UTF-8, with a line feed at the end.
///
/// Lines break before each thread, each phase of a thread and each logged sample. All members are
/// always present. `docs/output.md` has their meaning, and `docs/schemas/report.schema.json` their types.
///
/// Every number is an integer written with all its digits, up to 2⁶⁴ − 1. Readers that keep
/// integers (Python, Rust, Go into `int64` or `uint64`) get the exact value. Readers that make
/// every number a double, such as `JSON.parse` in JavaScript and older `jq`, round values beyond
/// 2⁵³. A month of cycles at 3 GHz reaches that value, 9 007 199 254 740 992. In JavaScript, a
/// reviver that reads `context.source` and calls `BigInt` gives the exact value.
///
/// # Errors
/// The error of `out`, such as `BrokenPipe`; the part that was written stays.
///
/// ```
/// use pacman_core::{Session, export};
/// let session = Session::builder("doc-json").events("task-clock").start()?;
/// let thread = session.attach()?;
/// thread.run(session.phase("one")?, || ())?;
///
/// let mut text = Vec::new();
/// export::json(&session.report(), &mut text)?;
/// let report: serde_json::Value = serde_json::from_slice(&text)?;
/// assert_eq!(report["format"], "pacman-report");
/// assert_eq!(report["threads"][0]["phases"][0]["executions"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn json(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut to = Writer::new(out);
    to.begin('{');
    to.name("format").string("pacman-report");
    to.name("version").literal(VERSION);
    to.break_line()?;
    to.name("session").string(&report.session);
    to.name("simulated").literal(report.simulated);
    to.name("age_ns").literal(report.age);
    to.break_line()?;
    let provenance = &report.provenance;
    to.name("provenance").begin('{');
    to.name("version").string(&provenance.version);
    to.name("host").string(&provenance.host);
    to.name("processor").string_or_null(provenance.processor.as_deref());
    to.name("system").string(&provenance.system);
    to.name("began").string(&provenance.date());
    to.end('}');
    to.break_line()?;
    to.name("notes");
    strings(&mut to, &report.notes);
    to.break_line()?;
    to.name("events").begin('[');
    for event in &report.events {
        to.begin('{');
        to.name("name").string(&event.name);
        to.name("unit").string(event.unit);
        to.name("hardware").literal(event.hardware);
        to.name("doubt").string_or_null(event.doubt);
        to.name("table").string_or_null(event.table.as_deref());
        to.name("core_pmu").string_or_null(event.core_pmu.as_deref());
        to.name("part_of").literal_or_null(event.part_of);
        to.end('}');
    }
    to.end(']');
    to.break_line()?;
    to.name("sets").begin('[');
    for set in &report.sets {
        to.begin('[');
        for event in &set.events {
            to.literal(event);
        }
        to.end(']');
    }
    to.end(']');
    to.name("rotation").string_or_null(report.rotation.map(rotation_code));
    to.break_line()?;
    to.name("phases");
    strings(&mut to, &report.phases);
    to.break_line()?;
    to.name("threads").begin('[');
    for each in &report.threads {
        to.break_line()?;
        thread(&mut to, report, each)?;
    }
    to.finish_line()?;
    to.end(']');
    to.end('}');
    to.finish_line()?;
    out.flush()
}

fn thread(to: &mut Writer<'_>, report: &Report, thread: &ThreadReport) -> io::Result<()> {
    to.begin('{');
    to.name("number").literal(thread.number);
    to.name("threads").literal(thread.threads);
    to.name("tid").literal(thread.tid);
    to.name("name").string_or_null(thread.name.as_deref());
    to.name("place");
    match thread.place {
        None => to.null(),
        Some(place) => {
            to.begin('{');
            to.name("cpu").literal(place.cpu);
            to.name("package").literal(place.package);
            to.name("core").literal(place.core);
            to.name("sibling").literal(place.sibling);
            to.name("node").literal(place.node);
            to.name("core_type").string(&place.core_type.to_string());
            to.name("bound").literal(place.bound);
            to.end('}');
        }
    }
    to.name("state").string(state_code(thread.state));
    to.name("attached_ns").literal(thread.attached);
    to.name("read_path").string(read_path_code(thread.read_path));
    to.name("log_dropped").literal(thread.log_dropped);
    to.name("notes");
    strings(to, &thread.notes);
    to.name("phases").begin('[');
    for row in &thread.phases {
        to.break_line()?;
        phase(to, report, row);
    }
    to.end(']');
    to.name("log").begin('[');
    for logged in &thread.log {
        to.break_line()?;
        sample(to, logged);
    }
    to.end(']');
    to.end('}');
    Ok(())
}

fn phase(to: &mut Writer<'_>, report: &Report, row: &PhaseReport) {
    to.begin('{');
    to.name("phase").literal(row.phase);
    to.name("executions").literal(row.executions);
    to.name("recursions").literal(row.recursions);
    to.name("panics").literal(row.panics);
    to.name("open").literal(row.open);
    to.name("implausible");
    match &row.implausible {
        None => to.null(),
        Some(aside) => {
            to.begin('{');
            to.name("executions").literal(aside.executions);
            to.name("event").literal_or_null(aside.event);
            to.name("why").string(&aside.why);
            to.end('}');
        }
    }
    to.name("time_ns");
    stat(to, (row.executions > 0).then_some(&row.time));
    to.name("sets").begin('[');
    for set in &row.sets {
        to.literal(set.executions);
    }
    to.end(']');
    to.name("counts").begin('[');
    for event in 0..report.events.len() {
        let counted = count_of(row, event);
        let count = counted.ok();
        to.begin('{');
        to.name("value").literal_or_null(count.and_then(|count| count.value()));
        to.name("absent").string_or_null(counted.err().map(|absent| absent.code()));
        to.name("raw");
        stat(to, count.map(|count| &count.raw));
        to.name("samples").literal(row.counts.get(event).map_or(0, |count| count.samples));
        to.name("scaled").literal_or_null(count.and_then(|count| count.scaled));
        // The two times stay if the count is absent: they are the reason.
        let times = row.counts.get(event).filter(|count| count.enabled_ns > 0);
        to.name("enabled_ns").literal_or_null(times.map(|count| count.enabled_ns));
        to.name("running_ns").literal_or_null(times.map(|count| count.running_ns));
        to.end('}');
    }
    to.end(']');
    to.end('}');
}

fn sample(to: &mut Writer<'_>, sample: &LoggedSample) {
    to.begin('{');
    to.name("phase").literal(sample.phase);
    to.name("begin_ns").literal(sample.begin);
    to.name("end_ns").literal(sample.end);
    to.name("set").literal(sample.set);
    to.name("counts").begin('[');
    for count in &sample.counts {
        to.literal(count);
    }
    to.end(']');
    to.end('}');
}

fn stat(to: &mut Writer<'_>, stat: Option<&Stat>) {
    let Some(stat) = stat else {
        to.null();
        return;
    };
    to.begin('{');
    to.name("sum").literal(stat.sum);
    to.name("min").literal(stat.min);
    to.name("max").literal(stat.max);
    to.end('}');
}

fn strings(to: &mut Writer<'_>, lines: &[String]) {
    to.begin('[');
    for line in lines {
        to.string(line);
    }
    to.end(']');
}
