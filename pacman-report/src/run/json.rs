//! The report for programs: everything.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::io::{self, Write};

use pacman_events::shown::text_of;
use pacman_regions::{Ending, ProcessEnergy, Runtime, RuntimeFamily, TimelineRow};
use serde::{Serialize, Serializer};

use super::findings::{self, Finding};
use super::report::{self, ProcessReport, Report, RunEnergy, ThreadState};
use super::verdict::Headline;
use super::{json_overview, json_phases, json_region, json_states};
use crate::document::{self, List, ProvenanceDocument, Seconds};

/// The version of the format. It rises when a member is removed or changes its meaning.
pub const VERSION: u32 = 3;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a, P> {
    /// Name of the format.
    #[cfg_attr(test, schemars(extend("const" = "pacman-run")))]
    format: &'a str,
    /// Rises where a member changes its meaning or disappears.
    #[cfg_attr(test, schemars(extend("const" = 3)))]
    version: u32,
    /// [Where, when and by which version](#conventions).
    provenance: ProvenanceDocument<'a>,
    /// The program and its arguments.
    command: &'a [String],
    /// Text of `--label`; null without.
    label: Option<&'a str>,
    /// The sentence about the run that a reader needs first.
    headline: Headline,
    /// Wall time of the program.
    time_s: f64,
    /// Exit status of the command.
    exit_status: u8,
    /// Signal that ended the program; null if it exited.
    #[cfg_attr(test, schemars(range(min = 0)))]
    signal: Option<i32>,
    /// Quantity that adaptation minimised; null if the run only observed.
    objective: Option<&'a str>,
    /// Simulated machine that counted.
    simulated: Option<&'a str>,
    /// Energy of the run, as the command read it; null without `--energy`.
    energy: Option<Energy<'a>>,
    /// Processes, those with regions or phases first, by rank.
    processes: P,
    /// All ranks of an MPI program at a glance; null without several ranks.
    ranks: Option<json_overview::Ranks<'a>>,
    /// Figures that each region has as members of its own, next to its counts.
    region_figures: Vec<RegionFigure<'a>>,
    /// [States of threads](observe.md#where-does-the-time-go), in the order of bars.
    thread_states: Vec<StateMember<'a>>,
    /// Facts that a reader of the figures must know.
    notes: Vec<&'a str>,
}

/// A state of threads.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StateMember<'a> {
    /// Name.
    name: &'a str,
    /// Name on pages.
    title: &'a str,
    /// Meaning.
    about: &'a str,
    /// Causes of sites at which threads wait in it.
    causes: Vec<&'a str>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RegionFigure<'a> {
    /// Name of the member.
    name: &'a str,
    /// Unit of its value; a share is a part of a whole, as 0.5.
    #[cfg_attr(test, schemars(extend("enum" = ["s", "share", "ratio"])))]
    unit: &'a str,
    /// Meaning.
    about: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Process<'a, R, P> {
    /// The kernel's number of the process.
    pid: u32,
    /// The kernel's number of its parent.
    parent: u32,
    /// Name of its host; null if it is not known.
    host: Option<&'a str>,
    /// Rank in `MPI_COMM_WORLD`; null outside of MPI programs.
    rank: Option<u32>,
    /// The program and its arguments.
    command: &'a [String],
    /// The same about this process.
    headline: Headline,
    /// Time from the loading of the library.
    time_s: f64,
    /// [How it ended](observe.md#how-a-process-ends).
    ending: &'a str,
    /// Signal that ended it.
    #[cfg_attr(test, schemars(range(min = 0)))]
    ending_signal: Option<i32>,
    /// OpenMP runtimes of the process.
    runtimes: Vec<RuntimeLibrary<'a>>,
    /// Threads of a region by default.
    threads: u32,
    /// Contexts that the process may use.
    contexts: u32,
    /// Threads that started regions outside of others.
    #[cfg_attr(test, schemars(range(min = 1)))]
    roots: u32,
    /// Part of its time inside regions; with several `roots`, of that time for each of them.
    share: f64,
    /// Part of the time in which [threads](observe.md#busy-machines) could run that they ran; null if
    /// it is not known.
    processor_share: Option<f64>,
    /// Whether that is less than 95 %.
    lacks_processors: bool,
    /// Part of the useful time in regions that threads were
    /// [on a processor](observe.md#time-on-no-processor); null without `--waits` or if the kernel's clock of a thread could not be read.
    useful_processor_share: Option<f64>,
    /// Events, in the order of all counts.
    events: &'a [report::Column],
    /// Events that were counted at the same time, as indices into `events`; several lists if
    /// [sets rotated](observe.md#more-events-than-counters).
    sets: &'a [Vec<usize>],
    /// Metrics that the events give.
    metrics: Vec<Metric<'a>>,
    /// Cost of observing.
    overhead: Overhead<'a>,
    /// [Efficiency tree](observe.md#where-does-the-time-go); null without `--waits`, and where several
    /// threads start regions.
    efficiency: Option<json_states::Tree>,
    /// Waiting constructs.
    sites: Vec<json_states::Site<'a>>,
    /// Energy from the start of the process to its latest reading; null without `--energy`.
    energy: Option<Energy<'a>>,
    /// MPI calls; null without timed calls.
    mpi: Option<&'a report::MpiReport>,
    /// Parallel regions, the longest first.
    regions: R,
    /// [Phases that the program marks](observe.md#phases-that-the-program-marks), the longest first.
    phases: P,
    /// Regions over the life of the process.
    timeline: Timeline,
    /// [Changes that would make the program quicker](observe.md#findings), the dearest first; five at most.
    findings: Vec<Finding>,
    /// Facts about this process.
    notes: &'a [String],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RuntimeLibrary<'a> {
    /// Family of the runtime.
    #[cfg_attr(test, schemars(with = "crate::tests::schemas::foreign::RuntimeFamily"))]
    family: RuntimeFamily,
    /// File of the runtime.
    path: String,
    /// Version.
    version: Option<&'a str>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Metric<'a> {
    /// Name of the metric.
    name: &'a str,
    /// The name with the mode of its counts where it is not the metric's own, and `*` where counts may be wrong.
    title: String,
    /// Unit of the metric.
    unit: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Overhead<'a> {
    /// Cost of observing one execution on one thread; null if no region ran.
    execution_s: Option<f64>,
    /// Way by which counts are read.
    #[cfg_attr(test, schemars(extend("enum" = ["rdpmc", "read", "none"])))]
    reads: &'a str,
}

/// Of the packages, with everything that runs there.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Energy<'a> {
    /// Joules of all processor packages, with everything that runs there.
    energy_j: f64,
    /// Mean power of the packages.
    power_w: Option<f64>,
    /// Time between the first reading and the latest.
    time_s: f64,
    /// Packages that were read.
    packages: u64,
    /// Interface that was read.
    #[cfg_attr(test, schemars(extend("enum" = ["powercap", "perf"])))]
    source: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Timeline {
    /// Length of a bin.
    bin_s: f64,
    /// Regions outside of others.
    rows: Vec<Band>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Band {
    /// Index into `regions`.
    region: usize,
    /// Time in each bin during which the region ran.
    time_s: Vec<Seconds>,
    /// The same times the size of the team.
    thread_time_s: Vec<Seconds>,
}

/// The document as a reader sees it.
#[cfg(test)]
pub(crate) type Written =
    Document<'static, Vec<Process<'static, Vec<json_region::Written>, Vec<json_phases::Written>>>>;
/// The document, indented, with a newline.
pub(super) fn write(report: &Report) -> String {
    document::text(&whole(report, List(|| report.processes.iter().map(process))))
}

/// The document on one line.
pub(super) fn line(report: &Report) -> String {
    document::line(&whole(report, List(|| report.processes.iter().map(process))))
}

/// Writes the document with these processes instead of the report's, one after the other.
pub(super) fn stream<P: Borrow<ProcessReport>>(
    report: &Report,
    processes: impl Iterator<Item = P>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let processes = RefCell::new(processes);
    let each = || std::iter::from_fn(|| processes.borrow_mut().next()).map(Whole);
    document::write(out, &whole(report, List(each)))
}

/// A process that is gone once it is written.
struct Whole<P>(P);

impl<P: Borrow<ProcessReport>> Serialize for Whole<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        process(self.0.borrow()).serialize(serializer)
    }
}

fn whole<'a, P: Serialize + 'a>(report: &'a Report, processes: P) -> impl Serialize + 'a {
    Document {
        format: "pacman-run",
        version: VERSION,
        provenance: ProvenanceDocument::of(&report.provenance),
        command: &report.command,
        label: report.label.as_deref(),
        headline: Headline::of_run(report),
        time_s: report.ended.seconds,
        exit_status: report.ended.exit.status(),
        signal: report.ended.exit.signal(),
        objective: report.objective.as_deref(),
        simulated: report.simulated.as_deref(),
        energy: report.energy.as_ref().map(run_energy),
        region_figures: report::FIGURES.iter().map(region_figure).collect(),
        thread_states: thread_states(),
        processes,
        ranks: json_overview::ranks(&report.overview),
        notes: report.remarks(),
    }
}

fn process(report: &ProcessReport) -> impl Serialize + '_ {
    let process = &report.process;
    let columns = &report.columns;
    let metrics = columns.metrics.list().zip(columns.metrics.titles());
    let metrics =
        metrics.map(|(metric, (title, unit))| Metric { name: metric.name(), title, unit });
    Process {
        pid: process.pid,
        parent: process.parent,
        host: process.host.as_deref(),
        rank: process.rank.map(|rank| rank.rank),
        command: &process.command,
        headline: Headline::of(report),
        time_s: process.seconds,
        ending: process.ending.word(),
        ending_signal: match process.ending {
            Ending::Killed(signal) => Some(signal),
            _ => None,
        },
        runtimes: report.runtimes.iter().map(runtime).collect(),
        threads: report.threads,
        contexts: report.contexts,
        roots: report.roots,
        share: report.share(),
        processor_share: report.processor_share(),
        lacks_processors: report.lacks_processors(),
        useful_processor_share: report.useful_processor_share(),
        events: &columns.events,
        sets: &columns.sets,
        metrics: metrics.collect(),
        overhead: Overhead {
            execution_s: report.overhead.nanoseconds.map(|time| time / 1e9),
            reads: &report.overhead.reads,
        },
        efficiency: json_states::tree(report),
        sites: report.sites.iter().map(json_states::site).collect(),
        energy: report.energy.as_ref().map(process_energy),
        mpi: report.mpi.as_ref(),
        regions: List(move || {
            report.regions.iter().map(move |one| json_region::region(report, one))
        }),
        phases: List(move || report.phases.iter().map(move |one| json_phases::phase(columns, one))),
        timeline: Timeline {
            bin_s: report.timeline.bin,
            rows: report.timeline.rows.iter().map(band).collect(),
        },
        findings: findings::of(report),
        notes: &report.notes,
    }
}

pub(crate) fn thread_states() -> Vec<StateMember<'static>> {
    let state = |state: &'static ThreadState| StateMember {
        name: state.name,
        title: state.title,
        about: state.about,
        causes: state.causes.iter().map(|(cause, _)| cause.word()).collect(),
    };
    report::THREAD_STATES.iter().map(state).collect()
}

/// The table of states as a member, for a report of before it had one.
pub(super) fn states_value() -> serde_json::Value {
    document::value(&thread_states())
}

fn region_figure(figure: &report::Figure) -> RegionFigure<'static> {
    RegionFigure { name: figure.name, unit: figure.unit.word(), about: figure.about }
}

fn run_energy(energy: &RunEnergy) -> Energy<'_> {
    Energy {
        energy_j: energy.joules,
        power_w: energy.watts(),
        time_s: energy.seconds,
        packages: energy.packages as u64,
        source: &energy.source,
    }
}

fn process_energy(energy: &ProcessEnergy) -> Energy<'_> {
    Energy {
        energy_j: energy.joules,
        power_w: report::mean(energy.joules, energy.seconds),
        time_s: energy.seconds,
        packages: energy.packages.into(),
        source: &energy.source,
    }
}

fn runtime(runtime: &Runtime) -> RuntimeLibrary<'_> {
    RuntimeLibrary {
        family: runtime.family,
        path: text_of(&runtime.path),
        version: runtime.version.as_deref(),
    }
}

fn band(row: &TimelineRow) -> Band {
    let times = |times: &[f64]| times.iter().copied().map(Seconds).collect();
    Band {
        region: row.region,
        time_s: times(&row.seconds),
        thread_time_s: times(&row.thread_seconds),
    }
}
