//! The report as one table: a row for each thread of a region of a process.

use super::report::{ProcessReport, RegionReport, Report, Thread};
use pacman_events::shown::text_of;

/// The table, with a heading.
pub(super) fn write(report: &Report) -> String {
    let events = events(report);
    let mut table = csv::Writer::from_writer(Vec::new());
    let heading = FIXED.iter().copied().chain(events.iter().map(String::as_str));
    let mut write = |fields: Vec<String>| {
        table.write_record(fields).expect("memory takes everything, and rows are equally long");
    };
    write(heading.map(str::to_owned).collect());
    for process in report.parallel() {
        for (number, region) in process.regions.iter().enumerate() {
            let of_region = about(process, number, region);
            if region.threads.is_empty() {
                let empty = FIXED.len() + events.len() - of_region.len();
                write([of_region.clone(), vec![String::new(); empty]].concat());
            }
            for thread in &region.threads {
                let fields =
                    [of_region.clone(), of_thread(thread), counts(process, thread, &events)];
                write(fields.concat());
            }
        }
    }
    let bytes = table.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("every field is text")
}

/// The events of all processes, which were all asked for the same.
fn events(report: &Report) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for event in report.parallel().flat_map(|process| &process.columns.events) {
        if !names.contains(&event.name) {
            names.push(event.name.clone());
        }
    }
    names
}

fn about(process: &ProcessReport, number: usize, region: &RegionReport) -> Vec<String> {
    let runtime = process.runtimes.get(region.runtime).map(super::report::runtime);
    vec![
        process.process.pid.to_string(),
        process.process.parent.to_string(),
        process.program().to_owned(),
        number.to_string(),
        region.name.text.clone(),
        region.name.file.clone().unwrap_or_default(),
        optional(region.name.line),
        text_of(&region.site.module),
        format!("{:#x}", region.site.address),
        region.entry.clone(),
        runtime.unwrap_or_default(),
        region.executions.to_string(),
        region.nested.to_string(),
        region.seconds.to_string(),
        optional(region.share),
        optional(region.imbalance),
        optional(region.waiting),
        optional(region.adaptation.as_ref().map(|adaptation| adaptation.threads)),
    ]
}

fn of_thread(thread: &Thread) -> Vec<String> {
    let beside: Vec<String> = thread.beside.iter().map(u32::to_string).collect();
    vec![
        thread.row.thread.to_string(),
        thread.row.executions.to_string(),
        thread.row.seconds.to_string(),
        optional(thread.row.cpu),
        optional(thread.seat.map(|seat| seat.package)),
        optional(thread.seat.map(|seat| seat.core)),
        optional(thread.seat.map(|seat| seat.sibling)),
        beside.join(" "),
        thread.row.moves.to_string(),
        thread.row.counted.to_string(),
        thread.implausible.clone().unwrap_or_default(),
    ]
}

fn counts(process: &ProcessReport, thread: &Thread, events: &[String]) -> Vec<String> {
    let count = |name: &String| {
        let at = process.columns.events.iter().position(|event| event.name == *name)?;
        thread.row.counts.get(at).copied().flatten()
    };
    events.iter().map(|name| optional(count(name))).collect()
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

const FIXED: [&str; 29] = [
    "pid",
    "parent",
    "program",
    "region",
    "name",
    "file",
    "line",
    "module",
    "address",
    "entry",
    "runtime",
    "executions",
    "nested",
    "region_s",
    "share",
    "imbalance",
    "waiting",
    "threads_chosen",
    "thread",
    "thread_executions",
    "busy_s",
    "cpu",
    "package",
    "core",
    "sibling",
    "beside",
    "moves",
    "counted",
    "implausible",
];
