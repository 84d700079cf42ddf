//! All ranks at a glance in JSON.

use serde::Serialize;

use super::report::{MpiCall, MpiFactors, MpiReport, Overview, RankSummary, RegionSummary};

#[derive(Serialize)]
pub(super) struct Ranks<'a> {
    processes: Vec<Process<'a>>,
    regions: Vec<Region<'a>>,
    mpi: Option<Factors>,
    calls: Vec<Call<'a>>,
}

/// TALP's factors over the processes.
#[derive(Serialize)]
struct Factors {
    processes: usize,
    parallel: Option<f64>,
    efficiency: f64,
    load_balance: f64,
    communication: f64,
    openmp: Option<f64>,
}

/// The calls of one MPI function.
#[derive(Serialize)]
struct Call<'a> {
    name: &'a str,
    count: u64,
    time_s: f64,
    inside_count: u64,
    inside_s: f64,
}

/// The MPI calls of one process.
#[derive(Serialize)]
pub(super) struct Mpi<'a> {
    outside_s: f64,
    calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Process<'a> {
    rank: u32,
    host: Option<&'a str>,
    pid: u32,
    time_s: f64,
    regions_s: f64,
    waiting_s: f64,
    mpi_s: Option<f64>,
    parallel: Option<f64>,
}

#[derive(Serialize)]
struct Region<'a> {
    name: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    processes: usize,
    executions: u64,
    time_s: f64,
    mean_s: f64,
    longest_s: f64,
    slowest: u32,
    imbalance: Option<f64>,
    waiting: Option<f64>,
}

pub(super) fn ranks(overview: &Overview) -> Option<Ranks<'_>> {
    overview.has_several().then(|| Ranks {
        processes: overview.ranks.iter().map(process).collect(),
        regions: overview.regions.iter().map(region).collect(),
        mpi: MpiFactors::of(&overview.mpi.times).map(factors),
        calls: overview.mpi.calls.iter().map(call).collect(),
    })
}

/// The MPI calls of a process, if they were timed and there are any.
pub(super) fn mpi(mpi: &MpiReport) -> Mpi<'_> {
    Mpi { outside_s: mpi.outside, calls: mpi.calls.iter().map(call).collect() }
}

fn factors(factors: MpiFactors) -> Factors {
    let MpiFactors { processes, parallel, mpi, load_balance, communication, openmp } = factors;
    Factors { processes, parallel, efficiency: mpi, load_balance, communication, openmp }
}

fn call(call: &MpiCall) -> Call<'_> {
    Call {
        name: &call.name,
        count: call.count,
        time_s: call.seconds,
        inside_count: call.inside_count,
        inside_s: call.inside_seconds,
    }
}

fn process(rank: &RankSummary) -> Process<'_> {
    Process {
        rank: rank.rank,
        host: rank.host.as_deref(),
        pid: rank.pid,
        time_s: rank.seconds,
        regions_s: rank.in_regions,
        waiting_s: rank.waiting,
        mpi_s: rank.mpi,
        parallel: rank.parallel,
    }
}

fn region(region: &RegionSummary) -> Region<'_> {
    Region {
        name: &region.name,
        file: region.file.as_deref(),
        line: region.line,
        processes: region.processes,
        executions: region.executions,
        time_s: region.seconds,
        mean_s: region.seconds / region.processes.max(1) as f64,
        longest_s: region.longest,
        slowest: region.slowest,
        imbalance: region.imbalance(),
        waiting: region.waiting,
    }
}
