//! A comparison for programs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::comparison::{Comparison, Figures, Key, Pair, Side};
use super::text;

#[derive(Serialize)]
pub(super) struct Document<'a> {
    format: &'a str,
    version: u32,
    before: SideDocument<'a>,
    after: SideDocument<'a>,
    program: PairDocument<'a>,
    regions: Vec<Region<'a>>,
    only_before: Vec<Name<'a>>,
    only_after: Vec<Name<'a>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct SideDocument<'a> {
    command: &'a [String],
    host: &'a str,
    processor: Option<&'a str>,
    began: &'a str,
    last_began: &'a str,
    reports: usize,
    threads: &'a BTreeSet<u32>,
    lacks_processors: bool,
    efficiency: Option<Efficiency>,
}

#[derive(Serialize)]
struct Efficiency {
    parallel: f64,
    mpi: f64,
    serialization: f64,
    load_balance: f64,
    scheduling: f64,
    processor_share: Option<f64>,
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
    file: Option<&'a str>,
    share: f64,
}

#[derive(Serialize)]
struct Region<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    #[serde(flatten)]
    pair: PairDocument<'a>,
}

#[derive(Serialize)]
struct PairDocument<'a> {
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    verdict: &'a str,
    ipc_ratio: Option<f64>,
    before: FigureDocument<'a>,
    after: FigureDocument<'a>,
}

#[derive(Serialize)]
struct FigureDocument<'a> {
    time_s: f64,
    executions: f64,
    states: &'a BTreeMap<String, f64>,
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
