//! A comparison for programs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::comparison::{Comparison, Figures, Key, Pair, Side};
use super::text;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Name of the format.
    #[cfg_attr(test, schemars(extend("const" = "pacman-compare")))]
    format: &'a str,
    /// Rises where a member changes its meaning or disappears.
    #[cfg_attr(test, schemars(extend("const" = 1)))]
    version: u32,
    /// Reports before.
    before: SideDocument<'a>,
    /// Reports after.
    after: SideDocument<'a>,
    /// The whole program.
    program: PairDocument<'a>,
    /// Regions of both sides, longest first.
    regions: Vec<Region<'a>>,
    /// Regions of the first side alone.
    only_before: Vec<Name<'a>>,
    /// Regions of the second side alone.
    only_after: Vec<Name<'a>>,
    /// Facts that a reader of the figures must know.
    notes: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SideDocument<'a> {
    /// Program and arguments of the first report.
    command: &'a [String],
    /// Its host.
    host: &'a str,
    /// Its processor.
    processor: Option<&'a str>,
    /// Begin of the first report in UTC.
    began: &'a str,
    /// Begin of the last report in UTC.
    last_began: &'a str,
    /// Number of reports.
    reports: usize,
    /// Sizes of the teams that ran regions.
    threads: &'a BTreeSet<u32>,
    /// Whether threads lacked a processor in some report: then all verdicts are unclear.
    lacks_processors: bool,
    /// Efficiency tree, medians of the reports; null unless each report has the tree of one process.
    efficiency: Option<Efficiency>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Efficiency {
    /// Parallel factor.
    parallel: f64,
    /// MPI factor.
    mpi: f64,
    /// Serialization factor.
    serialization: f64,
    /// Load balance factor.
    load_balance: f64,
    /// Scheduling factor.
    scheduling: f64,
    /// Part of the time in which threads could run that they ran.
    processor_share: Option<f64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Name<'a> {
    /// Name of the region.
    name: &'a str,
    /// Its source file.
    file: Option<&'a str>,
    /// Part of a process's time.
    share: f64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Region<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    #[serde(flatten)]
    pair: PairDocument<'a>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PairDocument<'a> {
    /// Time after over time before; null without time.
    ratio: Option<f64>,
    /// Lower end of its 95 % interval; null if noise is not known.
    low: Option<f64>,
    /// Upper end of its 95 % interval.
    high: Option<f64>,
    /// Against the threshold.
    #[cfg_attr(test, schemars(extend("enum" = ["faster", "slower", "same", "unclear"])))]
    verdict: &'a str,
    /// Instructions per cycle after over before; null without both counts.
    ipc_ratio: Option<f64>,
    /// Figures before.
    before: FigureDocument<'a>,
    /// Figures after.
    after: FigureDocument<'a>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FigureDocument<'a> {
    /// Wall time, the median of the reports.
    time_s: f64,
    /// Executions, the median of the reports.
    executions: f64,
    /// Seconds of all threads: useful, start, end, and waits by cause; empty if waits were not timed.
    states: &'a BTreeMap<String, f64>,
    /// Counts of all threads by event, also those named `useful EVENT` and `waiting EVENT`; without those that some execution lacks.
    counts: &'a BTreeMap<String, f64>,
}

pub(super) fn document(comparison: &Comparison) -> Document<'_> {
    Document {
        format: "pacman-compare",
        version: 1,
        before: side(&comparison.before),
        after: side(&comparison.after),
        program: pair(&comparison.whole),
        regions: comparison.regions.iter().map(|(key, pair)| region(key, pair)).collect(),
        only_before: comparison.only_before.iter().map(name).collect(),
        only_after: comparison.only_after.iter().map(name).collect(),
        notes: text::notes(comparison),
    }
}

fn region<'a>(key: &'a Key, both: &'a Pair) -> Region<'a> {
    Region { name: name(key), pair: pair(both) }
}

fn side(side: &Side) -> SideDocument<'_> {
    let efficiency = side.factors.as_ref().map(|factors| Efficiency {
        parallel: factors.parallel,
        mpi: factors.mpi,
        serialization: factors.serialization,
        load_balance: factors.load_balance,
        scheduling: factors.scheduling,
        processor_share: factors.processor_share,
    });
    SideDocument {
        command: &side.command,
        host: &side.host,
        processor: side.processor.as_deref(),
        began: &side.began.0,
        last_began: &side.began.1,
        reports: side.reports,
        threads: &side.threads,
        lacks_processors: side.is_busy,
        efficiency,
    }
}

fn name(key: &Key) -> Name<'_> {
    Name { name: &key.name, file: key.file.as_deref(), share: key.share }
}

fn pair(pair: &Pair) -> PairDocument<'_> {
    let interval = pair.ratio.and_then(|ratio| ratio.interval);
    PairDocument {
        ratio: pair.ratio.map(|ratio| ratio.value),
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        verdict: pair.verdict.word(),
        ipc_ratio: text::ipc(pair),
        before: figures(&pair.before),
        after: figures(&pair.after),
    }
}

fn figures(figures: &Figures) -> FigureDocument<'_> {
    FigureDocument {
        time_s: figures.seconds,
        executions: figures.executions,
        states: &figures.waits,
        counts: &figures.counts,
    }
}
