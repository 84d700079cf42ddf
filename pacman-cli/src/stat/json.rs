//! The answer for programs.

use std::time::Duration;

use serde::Serialize;

use super::answer::{Answer, Interval};
use super::figures::{self, Row, Run, Who};
use super::slots::SlotsDocument;
use super::usage::UsageDocument;
use crate::document::{List, ProvenanceDocument};
use crate::exit::Exit;

#[derive(Serialize)]
struct Document<'a, R> {
    format: &'a str,
    version: u32,
    provenance: ProvenanceDocument<'a>,
    command: &'a [String],
    process: Option<i32>,
    by: &'a str,
    interval: Option<Part>,
    elapsed_ns: u64,
    #[serde(flatten)]
    usage: UsageDocument,
    exit_status: Option<u8>,
    simulated: bool,
    events: Vec<Event<'a>>,
    sets: &'a [Vec<usize>],
    rows: R,
    total: Total,
    summaries: Option<Summaries>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Part {
    number: usize,
    begin_ns: u64,
    end_ns: u64,
}

#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    unit: &'a str,
    hardware: bool,
    doubt: Option<&'a str>,
}

#[derive(Serialize)]
struct Figures {
    time_ns: u64,
    counts: Option<Vec<Option<u64>>>,
    counted_shares: Option<Vec<f64>>,
    ipc: Option<f64>,
    stall_share: Option<f64>,
    ghz: Option<f64>,
    slots: Option<SlotsDocument>,
}

#[derive(Serialize)]
struct Total {
    #[serde(flatten)]
    figures: Figures,
    missing: usize,
}

#[derive(Serialize)]
struct Summaries {
    median: RunDocument,
    minimum: RunDocument,
    maximum: RunDocument,
}

#[derive(Serialize)]
struct RunDocument {
    #[serde(flatten)]
    figures: Figures,
    user_ns: Option<u64>,
    system_ns: Option<u64>,
}

#[derive(Serialize)]
struct RowDocument<'a> {
    #[serde(flatten)]
    figures: Figures,
    thread: Option<usize>,
    pid: Option<i32>,
    tid: Option<i32>,
    name: Option<&'a str>,
    rows: Option<usize>,
    package: Option<u32>,
    core: Option<u32>,
    sibling: Option<u32>,
    cpu: Option<u32>,
    bound: bool,
    moved: bool,
    notes: &'a [String],
    implausible: Option<&'a str>,
    run: Option<&'a str>,
    user_ns: Option<u64>,
    system_ns: Option<u64>,
    exit_status: Option<u8>,
}

/// The whole run or an interval of it; `total` is the sum of the rows.
pub(super) fn document<'a>(
    answer: &'a Answer,
    interval: Interval,
    rows: &'a [Row],
    summaries: &'a [Row],
    total: &'a figures::Figures,
    exit: Option<Exit>,
) -> impl Serialize + 'a {
    let events = answer.columns.events.iter().map(|event| Event {
        name: &event.name,
        unit: event.unit,
        hardware: event.hardware,
        doubt: event.doubt,
    });
    let elapsed = interval.end.saturating_sub(interval.begin);
    // An interval has no share of it.
    let usage = answer.usage.filter(|_| interval.number.is_none());
    Document {
        format: "pacman-stat",
        version: 1,
        provenance: ProvenanceDocument::of(&answer.provenance),
        command: &answer.command,
        process: answer.process,
        by: answer.by.id(),
        interval: interval.number.map(|number| Part {
            number,
            begin_ns: nanos(interval.begin),
            end_ns: nanos(interval.end),
        }),
        elapsed_ns: nanos(elapsed),
        usage: UsageDocument::of(usage, elapsed),
        exit_status: exit.map(Exit::status),
        simulated: answer.simulated,
        events: events.collect(),
        sets: &answer.columns.sets,
        rows: List(move || rows.iter().map(|each| row(answer, each))),
        total: Total { figures: figures(answer, total), missing: total.missing },
        summaries: match summaries {
            [median, minimum, maximum] => Some(Summaries {
                median: summary(answer, median),
                minimum: summary(answer, minimum),
                maximum: summary(answer, maximum),
            }),
            _ => None,
        },
        notes: &answer.notes,
    }
}

fn row<'a>(answer: &Answer, row: &'a Row) -> RowDocument<'a> {
    let (thread, rows) = match &row.who {
        Who::Thread { number, pid, tid, name } => (Some((*number, *pid, *tid, name)), None),
        Who::Core { rows } => (None, Some(*rows)),
        Who::Context | Who::Command { .. } | Who::Run(_) => (None, None),
    };
    let run = run_of(row);
    let usage = run.and_then(|run| run.usage);
    // A core's row has several contexts.
    let context = row.seat.filter(|_| rows.is_none());
    RowDocument {
        figures: figures(answer, &row.figures),
        thread: thread.map(|(number, ..)| number),
        pid: thread.map(|(_, pid, ..)| pid),
        tid: thread.map(|(_, _, tid, _)| tid),
        name: thread.map(|(.., name)| name.as_str()),
        rows,
        package: row.seat.map(|seat| seat.package),
        core: row.seat.map(|seat| seat.core),
        sibling: context.map(|seat| seat.sibling),
        cpu: context.map(|seat| seat.cpu),
        bound: row.bound,
        moved: row.moved,
        notes: &row.notes,
        implausible: row.implausible.as_deref(),
        run: run.map(|run| run.label.as_str()),
        user_ns: usage.map(|usage| nanos(usage.user)),
        system_ns: usage.map(|usage| nanos(usage.system)),
        exit_status: run.and_then(|run| run.exit).map(Exit::status),
    }
}

fn summary(answer: &Answer, row: &Row) -> RunDocument {
    let usage = run_of(row).and_then(|run| run.usage);
    RunDocument {
        figures: figures(answer, &row.figures),
        user_ns: usage.map(|usage| nanos(usage.user)),
        system_ns: usage.map(|usage| nanos(usage.system)),
    }
}

fn run_of(row: &Row) -> Option<&Run> {
    match &row.who {
        Who::Run(run) => Some(run),
        _ => None,
    }
}

fn figures(answer: &Answer, figures: &figures::Figures) -> Figures {
    let derived = answer.columns.derive(figures);
    let counts = figures.counts.as_ref();
    Figures {
        time_ns: nanos(figures.time),
        counts: counts.map(|counts| counts.iter().map(|count| count.value()).collect()),
        counted_shares: counts
            .filter(|_| answer.columns.rotate())
            .map(|counts| counts.iter().map(|count| count.share()).collect()),
        ipc: derived.ipc,
        stall_share: derived.stalled,
        ghz: derived.ghz,
        slots: SlotsDocument::of(&answer.columns, figures),
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
