//! The report for programs: everything.

use std::cell::RefCell;
use std::io::{self, Write};

use pacman_events::shown::text_of;
use pacman_regions::{Ending, Loop, ProcessEnergy, Runtime, RuntimeFamily, TimelineRow};
use serde::{Serialize, Serializer};

use super::energy::RunEnergy;
use super::json_figures::figures;
use super::report::{
    self, Columns, GuardReport, ProcessReport, RegionReport, RegionStates, Report,
};
use super::{json_overview, json_phases, json_slots, json_states};
use crate::document::{self, List, ProvenanceDocument};

/// The version of the format. It rises when a member is removed or changes its meaning.
pub(crate) const VERSION: u32 = 2;

#[derive(Serialize)]
struct Document<'a, P> {
    format: &'a str,
    version: u32,
    provenance: ProvenanceDocument<'a>,
    command: &'a [String],
    time_s: f64,
    exit_status: u8,
    signal: Option<i32>,
    objective: Option<&'a str>,
    simulated: Option<&'a str>,
    energy: Option<Energy<'a>>,
    processes: P,
    ranks: Option<json_overview::Ranks<'a>>,
    notes: Vec<&'a str>,
}

#[derive(Serialize)]
struct Process<'a, R, P> {
    pid: u32,
    parent: u32,
    host: Option<&'a str>,
    rank: Option<u32>,
    command: &'a [String],
    time_s: f64,
    ending: &'a str,
    ending_signal: Option<i32>,
    runtimes: Vec<RuntimeLibrary<'a>>,
    threads: u32,
    contexts: u32,
    roots: u32,
    share: f64,
    processor_share: Option<f64>,
    lacks_processors: bool,
    useful_processor_share: Option<f64>,
    events: Vec<Event<'a>>,
    sets: &'a [Vec<usize>],
    metrics: Vec<Metric<'a>>,
    overhead: Overhead<'a>,
    efficiency: Option<json_states::Tree>,
    sites: Vec<json_states::Site<'a>>,
    energy: Option<Energy<'a>>,
    mpi: Option<json_overview::Mpi<'a>>,
    regions: R,
    phases: P,
    timeline: Timeline<'a>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct RuntimeLibrary<'a> {
    family: RuntimeFamily,
    path: String,
    version: Option<&'a str>,
}

#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    unit: &'a str,
    uncounted: Option<&'a str>,
    doubt: Option<&'a str>,
    reading_count: Option<u64>,
}

#[derive(Serialize)]
struct Metric<'a> {
    name: &'a str,
    unit: &'a str,
}

#[derive(Serialize)]
struct Overhead<'a> {
    execution_s: Option<f64>,
    reads: &'a str,
}

/// Of the packages, with everything that runs there.
#[derive(Serialize)]
struct Energy<'a> {
    energy_j: f64,
    power_w: Option<f64>,
    time_s: f64,
    packages: u64,
    source: &'a str,
}

#[derive(Serialize)]
struct RegionEnergy {
    energy_j: f64,
    resolution_j: f64,
    power_w: Option<f64>,
    time_s: f64,
    executions: u64,
    unread: u64,
}

#[derive(Serialize)]
struct Timeline<'a> {
    bin_s: f64,
    rows: Vec<Band<'a>>,
}

#[derive(Serialize)]
struct Band<'a> {
    region: usize,
    time_s: &'a [f64],
    thread_time_s: &'a [f64],
}

#[derive(Serialize)]
struct Region<'a, F, T> {
    name: &'a str,
    label: Option<&'a str>,
    symbol: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    module: String,
    address: u64,
    source: Option<&'a str>,
    entry: &'a str,
    runtime: Option<String>,
    executions: u64,
    sampling: Option<json_states::Sample>,
    nested: u64,
    within: u64,
    starters: u32,
    time_s: f64,
    mean_s: Option<f64>,
    shortest_s: f64,
    longest_s: f64,
    share: Option<f64>,
    teams: Vec<Team>,
    imbalance: Option<f64>,
    waiting: Option<f64>,
    overhead: Option<f64>,
    efficiency: Option<json_states::Efficiency>,
    useful_off_s: Option<f64>,
    waiting_off_s: Option<f64>,
    useful_processor_share: Option<f64>,
    figures: F,
    useful_figures: Option<F>,
    waiting_figures: Option<F>,
    slots: Option<json_slots::Slots<'a>>,
    energy: Option<RegionEnergy>,
    threads: T,
    adaptation: Option<Adaptation<'a>>,
    open: Option<json_states::Open>,
}

#[derive(Serialize)]
struct Team {
    threads: u32,
    executions: u64,
    time_s: f64,
}

#[derive(Serialize)]
struct Thread<'a, F> {
    thread: u32,
    executions: u64,
    busy_s: f64,
    cpu: Option<u32>,
    moves: u64,
    package: Option<u32>,
    core: Option<u32>,
    sibling: Option<u32>,
    beside: &'a [u32],
    counted: u64,
    implausible: Option<&'a str>,
    states: Option<json_states::States>,
    figures: F,
    useful_figures: Option<F>,
    waiting_figures: Option<F>,
}

#[derive(Serialize)]
struct Adaptation<'a> {
    state: &'a str,
    threads: u32,
    configuration: &'a str,
    why: &'a str,
    reduced: u64,
    gained_s: Option<f64>,
    guards: &'a [GuardReport],
    loops: &'a [Loop],
    chunks_at_once: u32,
}

/// The document, indented, with a newline.
pub(super) fn write(report: &Report) -> String {
    document::text(&whole(report, List(|| report.processes.iter().map(process))))
}

/// Writes the document with these processes instead of the report's, one after the other.
pub(super) fn stream(
    report: &Report,
    processes: impl Iterator<Item = ProcessReport>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let processes = RefCell::new(processes);
    let each = || std::iter::from_fn(|| processes.borrow_mut().next()).map(Whole);
    document::write(out, &whole(report, List(each)))
}

/// A process that is gone once it is written.
struct Whole(ProcessReport);

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        process(&self.0).serialize(serializer)
    }
}

fn whole<'a, P: Serialize + 'a>(report: &'a Report, processes: P) -> impl Serialize + 'a {
    Document {
        format: "pacman-run",
        version: VERSION,
        provenance: ProvenanceDocument::of(&report.provenance),
        command: &report.command,
        time_s: report.ended.seconds,
        exit_status: report.ended.exit.status(),
        signal: report.ended.exit.signal(),
        objective: report.objective.as_deref(),
        simulated: report.simulated.as_deref(),
        energy: report.energy.as_ref().map(run_energy),
        processes,
        ranks: json_overview::ranks(&report.overview),
        notes: report.remarks(),
    }
}

fn process(report: &ProcessReport) -> impl Serialize + '_ {
    let process = &report.process;
    let columns = &report.columns;
    let metric = |metric: &'static pacman_metrics::language::Metric| Metric {
        name: metric.name(),
        unit: metric.unit(),
    };
    Process {
        pid: process.pid,
        parent: process.parent,
        host: process.host.as_deref(),
        rank: process.rank.map(|rank| rank.rank),
        command: &process.command,
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
        events: columns.events.iter().map(event).collect(),
        sets: &columns.sets,
        metrics: columns.metrics.iter().copied().map(metric).collect(),
        overhead: Overhead {
            execution_s: report.overhead.nanoseconds.map(|time| time / 1e9),
            reads: &report.overhead.reads,
        },
        efficiency: json_states::tree(report),
        sites: report.sites.iter().map(json_states::site).collect(),
        energy: report.energy.as_ref().map(process_energy),
        mpi: report.mpi.as_ref().map(json_overview::mpi),
        regions: List(move || report.regions.iter().map(move |one| region(report, one))),
        phases: List(move || report.phases.iter().map(move |one| json_phases::phase(columns, one))),
        timeline: Timeline {
            bin_s: report.timeline.bin,
            rows: report.timeline.rows.iter().map(band).collect(),
        },
        notes: &report.notes,
    }
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

fn region_energy(energy: &report::EnergyFigures) -> RegionEnergy {
    RegionEnergy {
        energy_j: energy.joules,
        resolution_j: energy.resolution,
        power_w: energy.watts,
        time_s: energy.seconds,
        executions: energy.executions,
        unread: energy.unread,
    }
}

fn runtime(runtime: &Runtime) -> RuntimeLibrary<'_> {
    RuntimeLibrary {
        family: runtime.family,
        path: text_of(&runtime.path),
        version: runtime.version.as_deref(),
    }
}

fn event(event: &report::Column) -> Event<'_> {
    Event {
        name: &event.name,
        unit: &event.unit,
        uncounted: event.uncounted.as_deref(),
        doubt: event.doubt.as_deref(),
        reading_count: event.reading,
    }
}

fn band(row: &TimelineRow) -> Band<'_> {
    Band { region: row.region, time_s: &row.seconds, thread_time_s: &row.thread_seconds }
}

fn region<'a>(process: &'a ProcessReport, region: &'a RegionReport) -> impl Serialize + 'a {
    let columns = &process.columns;
    let team = |team: &pacman_regions::Team| Team {
        threads: team.threads,
        executions: team.executions,
        time_s: team.seconds,
    };
    Region {
        name: &region.name.text,
        label: region.label.as_deref(),
        symbol: region.name.symbol.as_deref(),
        file: region.name.file.as_deref(),
        line: region.name.line,
        module: text_of(&region.site.module),
        address: region.site.address,
        source: region.site.source.as_deref(),
        entry: &region.entry,
        runtime: process.runtimes.get(region.runtime).map(report::runtime),
        executions: region.executions,
        sampling: json_states::sample(region),
        nested: region.nested,
        within: region.within,
        starters: region.starters,
        time_s: region.seconds,
        mean_s: region.mean,
        shortest_s: region.shortest,
        longest_s: region.longest,
        share: region.share,
        teams: region.teams.iter().map(team).collect(),
        imbalance: region.imbalance,
        waiting: region.waiting,
        overhead: region.overhead,
        efficiency: json_states::efficiency(region),
        useful_off_s: region.states.as_ref().and_then(|states| states.useful_time().1),
        waiting_off_s: region.states.as_ref().and_then(RegionStates::waiting_off),
        useful_processor_share: region.states.as_ref().and_then(RegionStates::processor_share),
        figures: figures(columns, &region.figures),
        useful_figures: region.by_state.as_ref().map(|by_state| figures(columns, &by_state.useful)),
        waiting_figures: region
            .by_state
            .as_ref()
            .map(|by_state| figures(columns, &by_state.waiting)),
        slots: region.slots.as_ref().map(json_slots::slots),
        energy: region.energy.as_ref().map(region_energy),
        threads: List(move || region.threads.iter().map(move |one| thread(columns, region, one))),
        adaptation: region.adaptation.as_ref().map(|one| adaptation(one, &region.guards)),
        open: region.open.as_ref().map(json_states::open),
    }
}

fn thread<'a>(
    columns: &'a Columns,
    region: &'a RegionReport,
    thread: &'a report::Thread,
) -> impl Serialize + 'a {
    Thread {
        thread: thread.row.thread,
        executions: thread.row.executions,
        busy_s: thread.row.seconds,
        cpu: thread.row.cpu,
        moves: thread.row.moves,
        package: thread.seat.map(|seat| seat.package),
        core: thread.seat.map(|seat| seat.core),
        sibling: thread.seat.map(|seat| seat.sibling),
        beside: &thread.beside,
        counted: thread.row.counted,
        implausible: thread.implausible.as_deref(),
        states: json_states::states(region, thread.row.thread),
        figures: figures(columns, &thread.figures),
        useful_figures: thread.by_state.as_ref().map(|by_state| figures(columns, &by_state.useful)),
        waiting_figures: thread
            .by_state
            .as_ref()
            .map(|by_state| figures(columns, &by_state.waiting)),
    }
}

fn adaptation<'a>(
    adaptation: &'a pacman_regions::Adaptation,
    guards: &'a [GuardReport],
) -> Adaptation<'a> {
    Adaptation {
        state: &adaptation.state,
        threads: adaptation.threads,
        configuration: &adaptation.configuration,
        why: &adaptation.why,
        reduced: adaptation.reduced,
        gained_s: adaptation.gained,
        guards,
        loops: &adaptation.loops,
        chunks_at_once: adaptation.chunks.unwrap_or(1),
    }
}
