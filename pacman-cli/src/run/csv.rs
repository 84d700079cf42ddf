//! The report as one table: a row for each thread of a region of a process.

use std::io::{self, Write};
use std::iter;

use pacman_events::shown::text_of;
use pacman_regions::Cause;

use super::report::{Column, ProcessReport, RegionReport, Report, Thread, ThreadStates};
use crate::records::csv;

/// The table, with a heading.
pub(super) fn write(report: &Report) -> String {
    let events = events(report.parallel());
    let rows = report.parallel().flat_map(|process| rows(process, &events));
    csv(iter::once(heading(&events)).chain(rows))
}

/// Writes the table of these processes, one after the other, with columns for `events`.
pub(super) fn stream(
    processes: impl Iterator<Item = ProcessReport>,
    events: &[Column],
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(csv(iter::once(heading(events))).as_bytes())?;
    for process in processes {
        out.write_all(csv(rows(&process, events)).as_bytes())?;
    }
    Ok(())
}

fn heading(events: &[Column]) -> Vec<String> {
    let titles = events.iter().map(|event| format!("{} [{}]", event.title(), event.unit));
    FIXED.map(str::to_owned).into_iter().chain(titles).collect()
}

/// A row for each thread of a region.
fn rows<'a>(
    process: &'a ProcessReport,
    events: &'a [Column],
) -> impl Iterator<Item = Vec<String>> + 'a {
    process.regions.iter().enumerate().flat_map(move |(number, region)| {
        let of_region = about(process, number, region);
        let empty = FIXED.len() + events.len() - of_region.len();
        let alone = [of_region.clone(), vec![String::new(); empty]].concat();
        let alone = region.threads.is_empty().then_some(alone);
        let threads = region.threads.iter().map(move |thread| {
            [of_region.clone(), of_thread(region, thread), counts(process, thread, events)].concat()
        });
        threads.chain(alone)
    })
}

/// The events of all processes, which were all asked for the same.
pub(super) fn events<'a>(processes: impl Iterator<Item = &'a ProcessReport>) -> Vec<Column> {
    let mut events: Vec<Column> = Vec::new();
    for event in processes.flat_map(|process| &process.columns.events) {
        if !events.iter().any(|known| known.name == event.name) {
            events.push(event.clone());
        }
    }
    events
}

fn about(process: &ProcessReport, number: usize, region: &RegionReport) -> Vec<String> {
    let runtime = process.runtimes.get(region.runtime).map(super::report::runtime);
    vec![
        process.process.pid.to_string(),
        process.process.parent.to_string(),
        process.program().to_owned(),
        process.process.host.clone().unwrap_or_default(),
        optional(process.process.rank.map(|rank| rank.rank)),
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
        optional(region.energy.map(|energy| energy.joules)),
        optional(region.energy.map(|energy| energy.resolution)),
        optional(region.energy.and_then(|energy| energy.watts)),
        optional(region.energy.map(|energy| energy.executions)),
    ]
}

fn of_thread(region: &RegionReport, thread: &Thread) -> Vec<String> {
    let beside: Vec<String> = thread.beside.iter().map(u32::to_string).collect();
    let of_states = region.states.iter().flat_map(|states| &states.threads);
    let states = of_states.clone().find(|states| states.thread == thread.row.thread);
    let waited =
        |causes: &[Cause]| optional(states.map(|states: &ThreadStates| states.waited(causes)));
    vec![
        thread.row.thread.to_string(),
        thread.row.executions.to_string(),
        thread.row.seconds.to_string(),
        optional(states.map(|states| states.useful)),
        optional(states.map(|states| states.starting)),
        waited(&[Cause::Barrier]),
        waited(WORKSHARING),
        optional(states.map(|states| states.end)),
        waited(&[Cause::Critical, Cause::Atomic, Cause::Lock]),
        waited(&[Cause::Ordered]),
        waited(&[Cause::Taskwait, Cause::Taskgroup]),
        waited(&[Cause::Mpi]),
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

fn counts(process: &ProcessReport, thread: &Thread, events: &[Column]) -> Vec<String> {
    let count = |column: &Column| {
        let own = process.columns.events.iter();
        let at = own.clone().position(|event| event.name == column.name)?;
        thread.row.counts.get(at).copied().flatten()
    };
    events.iter().map(|column| optional(count(column))).collect()
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Causes of waiting at the end of worksharing constructs.
const WORKSHARING: &[Cause] =
    &[Cause::Loop, Cause::Sections, Cause::Single, Cause::Worksharing, Cause::Reduction];

const FIXED: [&str; 44] = [
    "pid",
    "parent",
    "program",
    "host",
    "rank",
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
    "package_energy_j",
    "package_energy_resolution_j",
    "package_power_w",
    "energy_executions",
    "thread",
    "thread_executions",
    "busy_s",
    "useful_s",
    "starting_s",
    "barrier_s",
    "worksharing_s",
    "end_s",
    "lock_s",
    "ordered_s",
    "tasks_s",
    "mpi_s",
    "cpu",
    "package",
    "core",
    "sibling",
    "beside",
    "moves",
    "counted",
    "implausible",
];
