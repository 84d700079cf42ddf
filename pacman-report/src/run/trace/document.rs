//! The file: facts about the run, then the events of one process after the other.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::time::UNIX_EPOCH;

use pacman_events::shown::command_line;
use serde::Serialize;

use super::event::{Event, Place, Track};
use super::pids::Pids;
use super::{executions, phases, rates, timeline, totals};
use crate::document::{self, List};
use crate::run::report::{ProcessReport, Report};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a, E> {
    display_time_unit: &'a str,
    other_data: About<'a>,
    trace_events: E,
}

/// Facts about the run.
#[derive(Serialize)]
pub(super) struct About<'a> {
    format: &'a str,
    version: u32,
    command: String,
    pacman_pmu: &'a str,
    host: &'a str,
    processor: Option<&'a str>,
    began: String,
    simulated: Option<&'a str>,
    contents: &'a str,
    notes: &'a [String],
}

impl About<'_> {
    pub(super) fn of(report: &Report) -> About<'_> {
        let provenance = &report.provenance;
        About {
            format: "pacman-trace",
            version: 1,
            command: command_line(&report.command),
            pacman_pmu: &provenance.version,
            host: &provenance.host,
            processor: provenance.processor.as_deref(),
            began: provenance.date(),
            simulated: report.simulated.as_deref(),
            contents: CONTENTS,
            notes: &report.notes,
        }
    }
}

/// Those in which regions ran or phases were marked.
pub(super) fn observed<P: Borrow<ProcessReport>>(
    processes: impl Iterator<Item = P>,
) -> impl Iterator<Item = P> {
    processes.filter(|process| process.borrow().has_figures())
}

/// The begin of the run, in seconds since 1970.
pub(super) fn began(report: &Report) -> f64 {
    report.provenance.began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Writes the file of these processes, one after the other.
pub(in crate::run) fn stream<P: Borrow<ProcessReport>>(
    report: &Report,
    processes: impl Iterator<Item = P>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let began = began(report);
    let processes = RefCell::new(observed(processes));
    let pids = RefCell::new(Pids::new());
    let place = Cell::new(0);
    let next = || {
        let process = processes.borrow_mut().next()?;
        place.set(place.get() + 1);
        Some(events(process.borrow(), began, place.get(), &mut pids.borrow_mut()))
    };
    let document = Document {
        display_time_unit: "ms",
        other_data: About::of(report),
        trace_events: List(|| std::iter::from_fn(&next).flatten()),
    };
    document::write_line(out, &document)
}

/// The events of a process: it first, then its threads' totals.
pub(super) fn events(
    process: &ProcessReport,
    began: f64,
    place: usize,
    pids: &mut Pids,
) -> Vec<Event> {
    let offset = (process.process.began - began).max(0.0);
    let (pid, threads) = (pids.of(process.process.pid), pids.made_up());
    let host = process.process.host.as_deref().unwrap_or_default();
    let title = match process.process.rank {
        Some(rank) => format!("rank {}, {}", rank.rank, process.program()),
        None => process.program().to_owned(),
    };
    let totals = format!("{title}, process {}: {TOTALS}", process.process.pid);
    let mut events = Vec::new();
    for (pid, name, place) in [(pid, title, 2 * place), (threads, totals, 2 * place + 1)] {
        let track = Track { pid, tid: 0 };
        events.push(track.metadata("process_name", "name", name));
        events.push(track.metadata("process_labels", "labels", host));
        events.push(track.metadata("process_sort_index", "sort_index", place));
    }
    let logged = executions::threads(process, pids);
    let place = Place { process, pid, offset };
    let of_threads = Place { pid: threads, ..place };
    events.extend(executions::events(place, &logged));
    events.extend(rates::events(place, &logged));
    events.extend(timeline::events(place, logged.len(), pids));
    events.extend(totals::events(of_threads, pids));
    let teams = process.regions.iter().flat_map(|region| &region.threads);
    let before = teams.map(|thread| thread.row.thread as usize + 1).max().unwrap_or(0);
    events.extend(phases::events(of_threads, before, pids));
    events
}

const TOTALS: &str = "totals of each thread, one after the other (not when they happened)";

/// The contents of the file, and the facts that a recording lacks.
const CONTENTS: &str = "Each process has a track for every thread, with the first single executions of regions \
    and their waits, in eighths of a microsecond; time_s has the exact time. A process has up to 65,536 of \
    them; a mark says where they end. With an overhead budget these are the timed executions, and each stands \
    for stands_for of them. Counters of threads are counts a second, each spread evenly over its execution. Each \
    process also has a track for every \
    region that ran outside of others: a slice is an interval of the timeline in which the region ran, \
    rounded outwards to the timeline's bins, with its time inside in time_s. Its counters are mean \
    numbers of threads in a bin. The other process has each thread's totals in each region one after the \
    other: useful time and waits have true lengths in time_s, but no place in time. So it has the phases that \
    the program marks, on tracks of their own: a phase contains the phases and regions inside of it.";
