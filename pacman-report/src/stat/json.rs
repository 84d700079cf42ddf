//! The answer for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::answer::{Answer, Interval};
use super::figures::{self, Row, Run, Who};
use super::slots;
use super::usage::{UsageDocument, nanos};
use crate::document::{List, ProvenanceDocument};
use crate::exit::Exit;
use crate::slots::Shares;

/// The counts of a command.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a, R> {
    /// Name of the format.
    #[cfg_attr(test, schemars(extend("const" = "pacman-stat")))]
    format: &'a str,
    /// Rises where a member changes its meaning or disappears.
    #[cfg_attr(test, schemars(extend("const" = 1)))]
    version: u32,
    /// [Where, when and by which version](#conventions).
    provenance: ProvenanceDocument<'a>,
    /// Words of the command.
    command: &'a [String],
    /// Process of `-p`.
    #[cfg_attr(test, schemars(range(min = 1)))]
    process: Option<i32>,
    /// Subject of a row; `run` with `--repeat`.
    #[cfg_attr(test, schemars(extend("enum" = ["thread", "core", "context", "run"])))]
    by: &'a str,
    /// Interval of the figures; null for the whole run.
    interval: Option<Part>,
    /// Time that was counted.
    elapsed_ns: u64,
    #[serde(flatten)]
    usage: UsageDocument,
    /// Exit status of the command; null while it runs.
    exit_status: Option<u8>,
    /// True if the counts come from a simulated machine.
    simulated: bool,
    /// Events in the order of all counts.
    events: &'a [figures::Column],
    /// Events that were counted at the same time, as indices into `events`; several lists if
    /// [sets rotated](count-c.md#more-events-than-counters).
    sets: &'a [Vec<usize>],
    /// Threads, cores, contexts or runs.
    rows: R,
    /// Sum of the rows.
    total: Total,
    /// Over the runs of `--repeat`, each figure by itself; otherwise null.
    summaries: Option<Summaries>,
    /// Facts that a reader of the figures must know.
    notes: &'a [String],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Part {
    /// Number of the interval, from 0.
    number: usize,
    /// Begin, from the start of the command.
    begin_ns: u64,
    /// End, from the start of the command.
    end_ns: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Figures {
    /// Time on processors; of a run its elapsed time.
    time_ns: u64,
    /// Counts by event; null for an event that was never on a counter.
    counts: Option<Vec<Option<u64>>>,
    /// Part of the time in which each event was counted: below 1 its count is an estimate, at 0 it
    /// has none; null if all events were counted at once.
    #[cfg_attr(test, schemars(inner(range(min = 0, max = 1))))]
    counted_shares: Option<Vec<f64>>,
    /// Instructions per cycle.
    ipc: Option<f64>,
    /// Part of the cycles without progress.
    stall_share: Option<f64>,
    /// Rate of the clock in 10⁹ Hz.
    ghz: Option<f64>,
    /// Values by name of the [metric](observe.md#meaning-of-the-figures); null where absent.
    metrics: BTreeMap<&'static str, Option<f64>>,
    /// Parts of the issue slots.
    slots: Option<Shares>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Total {
    #[serde(flatten)]
    figures: Figures,
    /// Rows without counts.
    missing: usize,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Summaries {
    /// Medians.
    median: RunDocument,
    /// Minima.
    minimum: RunDocument,
    /// Maxima.
    maximum: RunDocument,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RunDocument {
    #[serde(flatten)]
    figures: Figures,
    /// User time of the run.
    user_ns: Option<u64>,
    /// System time of the run.
    system_ns: Option<u64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RowDocument<'a> {
    #[serde(flatten)]
    figures: Figures,
    #[serde(flatten)]
    facts: RowFacts<'a>,
    /// Facts about the row.
    notes: &'a [String],
    /// User time of the run.
    user_ns: Option<u64>,
    /// System time of the run.
    system_ns: Option<u64>,
    /// Exit status of the run.
    exit_status: Option<u8>,
}

/// The subject of a row, for JSON and CSV.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct RowFacts<'a> {
    /// Number of the thread; null for other rows.
    pub(super) thread: Option<usize>,
    /// Process of the thread.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub(super) pid: Option<i32>,
    /// The kernel's number of the thread.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub(super) tid: Option<i32>,
    /// Name of the thread.
    pub(super) name: Option<&'a str>,
    /// Threads or contexts that a core's row sums; null for other rows.
    pub(super) rows: Option<usize>,
    /// Number of the package; null if it is not known.
    pub(super) package: Option<u32>,
    /// Number of the core in its package; null if it is not known.
    pub(super) core: Option<u32>,
    /// Number of the context on its core; null for a core.
    pub(super) sibling: Option<u32>,
    /// The kernel's number of the context; null for a core.
    pub(super) cpu: Option<u32>,
    /// True if it was bound there.
    pub(super) bound: bool,
    /// True if it was elsewhere, too.
    pub(super) moved: bool,
    /// Reason why its counts were left out as impossible.
    pub(super) implausible: Option<&'a str>,
    /// Number of the run; null for other rows.
    pub(super) run: Option<&'a str>,
}

/// The document as a reader sees it.
#[cfg(test)]
pub(crate) type Whole = Document<'static, Vec<RowDocument<'static>>>;

/// The whole run or an interval of it; `total` is the sum of the rows.
pub(super) fn document<'a>(
    answer: &'a Answer,
    interval: Interval,
    rows: &'a [Row],
    summaries: &'a [Row],
    total: &'a figures::Figures,
    exit: Option<Exit>,
) -> impl Serialize + 'a {
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
        events: &answer.columns.events,
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
    let run = run_of(row);
    let RunDocument { figures, user_ns, system_ns } = summary(answer, row);
    RowDocument {
        figures,
        facts: RowFacts::of(row),
        notes: &row.notes,
        user_ns,
        system_ns,
        exit_status: run.and_then(|run| run.exit).map(Exit::status),
    }
}

impl RowFacts<'_> {
    pub(super) fn of(row: &Row) -> RowFacts<'_> {
        let (thread, rows) = match &row.who {
            Who::Thread { number, pid, tid, name } => (Some((*number, *pid, *tid, name)), None),
            Who::Core { rows } => (None, Some(*rows)),
            Who::Context | Who::Command { .. } | Who::Run(_) => (None, None),
        };
        // A core's row has several contexts.
        let context = row.seat.filter(|_| rows.is_none());
        RowFacts {
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
            implausible: row.implausible.as_deref(),
            run: run_of(row).map(|run| run.label.as_str()),
        }
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
    let metrics = &answer.columns.metrics;
    let derived = answer.columns.derive(figures);
    let names = metrics.list().map(|metric| metric.name());
    let value = |name: &str| derived[metrics.place(name)?];
    let counts = figures.counts.as_ref();
    Figures {
        time_ns: nanos(figures.time),
        counts: counts.map(|counts| counts.iter().map(|count| count.value()).collect()),
        counted_shares: counts
            .filter(|_| answer.columns.rotate())
            .map(|counts| counts.iter().map(|count| count.share()).collect()),
        ipc: value("ipc"),
        stall_share: value("stall-share-issue"),
        ghz: value("frequency-on-cpu").map(|frequency| frequency / 1e9),
        metrics: names.zip(derived.iter().copied()).collect(),
        slots: slots::shares(&answer.columns, figures).map(Shares::from),
    }
}
