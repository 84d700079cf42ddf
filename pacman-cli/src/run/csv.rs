//! The report as one table: a row for each thread of a region or a phase of a process.

use std::io::{self, Write};
use std::iter;

use pacman_events::shown::text_of;
use pacman_regions::Cause;

use super::report::{
    Busy, Column, Figures, OpenThread, PhaseReport, ProcessReport, RegionReport, Report, Seat,
    Thread, ThreadStates,
};
use crate::records::csv;

/// The table, with a heading.
pub(super) fn write(report: &Report) -> String {
    let events = events(report.observed());
    let rows = report.observed().flat_map(|process| {
        let busy = Busy::of(process, report.observed());
        rows(process, &events, said(busy))
    });
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
        let busy = Busy::of(&process, []);
        out.write_all(csv(rows(&process, events, said(busy))).as_bytes())?;
    }
    Ok(())
}

/// The sentence about a busy machine, or nothing.
fn said(busy: Option<Busy>) -> String {
    busy.map_or_else(String::new, |busy| busy.sentence(""))
}

fn heading(events: &[Column]) -> Vec<String> {
    let titles = ["", "useful ", "waiting "].into_iter().flat_map(|state| {
        events.iter().map(move |event| format!("{state}{} [{}]", event.title(), event.unit))
    });
    let own = shares(events).map(|event| format!("{} counted [share]", event.name));
    let margins = shares(events).map(|event| format!("{} margin [{}]", event.name, event.unit));
    let readings = events.iter().map(|event| format!("{} readings [share]", event.name));
    let all = FIXED.map(str::to_owned).into_iter().chain(titles).chain(own).chain(margins);
    all.chain(readings).collect()
}

/// The events whose shares and margins have columns: all, if sets of some process took turns.
fn shares(events: &[Column]) -> impl Iterator<Item = &Column> {
    let rotate = events.iter().any(|event| event.rotates);
    events.iter().filter(move |_| rotate)
}

/// A row for each thread of a region, then for each of a phase.
fn rows<'a>(
    process: &'a ProcessReport,
    events: &'a [Column],
    busy: String,
) -> impl Iterator<Item = Vec<String>> + 'a {
    let with_busy = move |mut row: Vec<String>| {
        row[BUSY].clone_from(&busy);
        row
    };
    let regions = process.regions.iter().enumerate().flat_map(move |(number, region)| {
        let of_region = about(process, number, region);
        let columns = FIXED.len() + 4 * events.len() + 2 * shares(events).count();
        let empty = columns - of_region.len();
        let alone = [of_region.clone(), vec![String::new(); empty]].concat();
        let is_open = |open: &&OpenThread| {
            region.threads.iter().all(|thread| thread.row.thread != open.thread)
        };
        let opens = region.open.iter().flat_map(|open| &open.threads).filter(is_open);
        let open = opens.map(|open| only_open(&of_region, open, columns)).collect::<Vec<_>>();
        let alone = (region.threads.is_empty() && open.is_empty()).then_some(alone);
        let shared = of_region.clone();
        let threads = region.threads.iter().map(move |thread| {
            [shared.clone(), of_thread(region, thread), counts(process, thread, events)].concat()
        });
        threads.chain(open).chain(alone)
    });
    let phases = process.phases.iter().flat_map(move |phase| {
        let threads = phase.threads.iter().zip(&phase.unended);
        threads.map(move |(thread, unended)| {
            let fixed = of_phase(process, phase, thread, *unended);
            [fixed, counts(process, thread, events)].concat()
        })
    });
    regions.chain(phases).map(with_busy)
}

/// The fixed fields of a thread in a phase. Those that only regions have are empty.
fn of_phase(
    process: &ProcessReport,
    phase: &PhaseReport,
    thread: &Thread,
    unended: u64,
) -> Vec<String> {
    let row = &thread.row;
    let seat = |of: fn(Seat) -> u32| optional(thread.seat.map(of));
    FIXED
        .map(|column| match column {
            "name" => phase.name.clone(),
            "executions" => phase.executions.to_string(),
            "thread" => row.thread.to_string(),
            "thread_executions" => row.executions.to_string(),
            "cpu" => optional(row.cpu),
            "package" => seat(|seat| seat.package),
            "core" => seat(|seat| seat.core),
            "sibling" => seat(|seat| seat.sibling),
            "moves" => row.moves.to_string(),
            "counted" => row.counted.to_string(),
            "implausible" => thread.implausible.clone().unwrap_or_default(),
            "phase_kind" => phase.kind.word().to_owned(),
            "phase_s" => row.seconds.to_string(),
            "phase_unended" => unended.to_string(),
            _ => of_process(process, column).unwrap_or_default(),
        })
        .into()
}

/// The fields that all rows of a process share.
fn of_process(process: &ProcessReport, column: &str) -> Option<String> {
    let about = &process.process;
    match column {
        "pid" => Some(about.pid.to_string()),
        "parent" => Some(about.parent.to_string()),
        "program" => Some(process.program().to_owned()),
        "host" => about.host.clone(),
        "rank" => about.rank.map(|rank| rank.rank.to_string()),
        _ => None,
    }
}

/// The events of all processes, which were all asked for the same.
pub(super) fn events<'a>(processes: impl Iterator<Item = &'a ProcessReport>) -> Vec<Column> {
    let mut events: Vec<Column> = Vec::new();
    processes.flat_map(|process| &process.columns.events).for_each(|event| add(&mut events, event));
    events
}

/// Adds the event of another process.
pub(super) fn add(events: &mut Vec<Column>, event: &Column) {
    match events.iter_mut().find(|known| known.name == event.name) {
        Some(known) => known.rotates |= event.rotates,
        None => events.push(event.clone()),
    }
}

fn about(process: &ProcessReport, number: usize, region: &RegionReport) -> Vec<String> {
    let runtime = process.runtimes.get(region.runtime).map(super::report::runtime);
    let shared = ["pid", "parent", "program", "host", "rank"];
    let shared = shared.map(|column| of_process(process, column).unwrap_or_default());
    let own = [
        number.to_string(),
        region.name.text.clone(),
        region.name.file.clone().unwrap_or_default(),
        optional(region.name.line),
        text_of(&region.site.module),
        format!("{:#x}", region.site.address),
        region.entry.clone(),
        runtime.unwrap_or_default(),
        region.executions.to_string(),
        region.sampling.map_or(region.executions, |sampling| sampling.timed).to_string(),
        region.nested.to_string(),
        region.within.to_string(),
        region.seconds.to_string(),
        optional(region.sampling.map(|sampling| sampling.margin)),
        optional(region.share),
        optional(region.imbalance),
        optional(region.waiting),
        optional(region.adaptation.as_ref().map(|adaptation| adaptation.threads)),
        optional(region.energy.map(|energy| energy.joules)),
        optional(region.energy.map(|energy| energy.resolution)),
        optional(region.energy.and_then(|energy| energy.watts)),
        optional(region.energy.map(|energy| energy.executions)),
    ];
    shared.into_iter().chain(own).collect()
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
        optional(states.and_then(|states| states.useful_off)),
        optional(states.and_then(|states| states.waiting_off)),
        optional(thread.row.cpu),
        optional(thread.seat.map(|seat| seat.package)),
        optional(thread.seat.map(|seat| seat.core)),
        optional(thread.seat.map(|seat| seat.sibling)),
        beside.join(" "),
        thread.row.moves.to_string(),
        thread.row.counted.to_string(),
        thread.implausible.clone().unwrap_or_default(),
        // Those of phases, the time of an open part, and what the machine did.
        String::new(),
        String::new(),
        String::new(),
        optional(open_seconds(region, thread.row.thread)),
        String::new(),
    ]
}

/// The time so far of a thread in an execution that had not ended.
fn open_seconds(region: &RegionReport, thread: u32) -> Option<f64> {
    let mut threads = region.open.iter().flat_map(|open| &open.threads);
    threads.find(|open| open.thread == thread).map(|open| open.seconds)
}

/// The row of a thread that has ended no execution.
fn only_open(of_region: &[String], open: &OpenThread, columns: usize) -> Vec<String> {
    let mut row = of_region.to_vec();
    row.resize(columns, String::new());
    for (column, value) in FIXED.iter().zip(&mut row) {
        match *column {
            "thread" => *value = open.thread.to_string(),
            "thread_executions" => *value = "0".to_owned(),
            "open_s" => *value = open.seconds.to_string(),
            _ => {}
        }
    }
    row
}

/// The counts of all time, of useful time and of waits, the shares that were counted, the margins, and the
/// shares of the readings.
fn counts(process: &ProcessReport, thread: &Thread, events: &[Column]) -> Vec<String> {
    let own = &process.columns.events;
    let place = |column: &Column| own.iter().position(|event| event.name == column.name);
    let places: Vec<Option<usize>> = events.iter().map(place).collect();
    let by_state = thread.by_state.as_ref();
    let all = [
        Some(&thread.figures),
        by_state.map(|by_state| &by_state.useful),
        by_state.map(|by_state| &by_state.waiting),
    ];
    let count = |figures: Option<&Figures>, place: Option<usize>| {
        figures?.counts.get(place?).copied().flatten().map(|count| count.value)
    };
    let counts =
        all.iter().flat_map(|figures| places.iter().map(|place| optional(count(*figures, *place))));
    let share =
        |(_, place): (&Column, &Option<usize>)| thread.figures.shares.get((*place)?).copied();
    let estimated: Vec<_> = shares(events).zip(&places).collect();
    let of = |place: &Option<usize>| thread.figures.counts.get((*place)?).copied().flatten();
    let margin = |place: &Option<usize>| of(place).map(|count| count.margin);
    let readings = places.iter().map(|place| optional(of(place).and_then(|count| count.readings)));
    let margins = estimated.iter().map(|(_, place)| optional(margin(place)));
    let shares = estimated.iter().map(|both| optional(share(*both)));
    counts.chain(shares).chain(margins).chain(readings).collect()
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Causes of waiting at the end of worksharing constructs.
const WORKSHARING: &[Cause] =
    &[Cause::Loop, Cause::Sections, Cause::Single, Cause::Worksharing, Cause::Reduction];

/// The column of the sentence about a busy machine.
const BUSY: usize = FIXED.len() - 1;
const FIXED: [&str; 54] = [
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
    "timed_executions",
    "nested",
    "within",
    "region_s",
    "region_margin",
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
    "useful_off_s",
    "waiting_off_s",
    "cpu",
    "package",
    "core",
    "sibling",
    "beside",
    "moves",
    "counted",
    "implausible",
    "phase_kind",
    "phase_s",
    "phase_unended",
    "open_s",
    "busy_machine",
];

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::run::made::{ThreadSpec, report, timed, with_phase};

    #[test]
    fn a_phase_has_a_row_for_each_thread_behind_those_of_regions() {
        let threads = [ThreadSpec { busy: 7.5, start: 0.25, waits: 3.0, cpu: 0 }];
        let text = write(&report(&[with_phase(timed(&threads, "lock"))]));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heading = reader.headers().expect("a heading").clone();
        let rows: Vec<HashMap<&str, String>> = reader
            .records()
            .map(|row| row.expect("as many fields as columns"))
            .map(|row| heading.iter().zip(row.iter().map(str::to_owned)).collect())
            .collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert_eq!((&*rows[0]["phase_kind"], &*rows[0]["busy_s"]), ("", "7.5"));
        for (row, thread, time, count, unended) in
            [(&rows[1], "0", "1.5", "1500000000", "0"), (&rows[2], "1", "0.25", "250000000", "1")]
        {
            let own = ["pid", "name", "phase_kind", "executions", "thread_executions", "region"];
            assert_eq!(own.map(|name| &*row[name]), ["7", "assemble", "likwid", "6", "3", ""]);
            let own = ["thread", "phase_s", "task-clock [ns]", "phase_unended", "region_s"];
            assert_eq!(own.map(|name| &*row[name]), [thread, time, count, unended, ""]);
        }
    }
}
