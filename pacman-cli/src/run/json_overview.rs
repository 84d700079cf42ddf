//! All ranks at a glance in JSON.

use serde::Serialize;

use super::report::{MpiCall, MpiFactors, MpiReport, Overview, RankSummary, RegionSummary};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Ranks<'a> {
    /// Ranks.
    processes: Vec<Process<'a>>,
    /// Regions of the same name and source, longest first.
    regions: Vec<Region<'a>>,
    /// TALP's factors over the processes that called MPI; null without `--waits`.
    mpi: Option<Factors>,
    /// MPI functions, those with the most time first.
    calls: Vec<Call<'a>>,
}

/// TALP's factors over the processes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Factors {
    /// Processes that called MPI.
    processes: usize,
    /// Useful part of all time.
    parallel: Option<f64>,
    /// Part outside of MPI: load balance times communication.
    efficiency: f64,
    /// Mean over longest time outside of MPI.
    load_balance: f64,
    /// Longest time outside of MPI over the longest time.
    communication: f64,
    /// Useful part of the time outside of MPI.
    openmp: Option<f64>,
}

/// The calls of one MPI function.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Call<'a> {
    /// Name of the MPI function.
    name: &'a str,
    /// Calls outside of regions.
    count: u64,
    /// Their time, of all threads.
    time_s: f64,
    /// Calls inside of regions.
    inside_count: u64,
    /// Their time, of all threads.
    inside_s: f64,
}

/// The MPI calls of one process.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Mpi<'a> {
    /// Time outside of regions, of the thread that starts regions.
    outside_s: f64,
    /// MPI functions, those with the most time first.
    calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Process<'a> {
    /// Rank in `MPI_COMM_WORLD`.
    rank: u32,
    /// Name of its host.
    host: Option<&'a str>,
    /// The kernel's number of its process.
    pid: u32,
    /// Its wall time.
    time_s: f64,
    /// Time in regions that were inside no other.
    regions_s: f64,
    /// Wall time that the waiting of its threads is worth.
    waiting_s: f64,
    /// Time in MPI outside of regions; null without timed calls.
    mpi_s: Option<f64>,
    /// Useful part of its threads' time; null without `--waits`.
    parallel: Option<f64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Region<'a> {
    /// Name of the region.
    name: &'a str,
    /// Source file.
    file: Option<&'a str>,
    /// Line of the source.
    line: Option<u32>,
    /// Processes that ran it.
    processes: usize,
    /// Executions in all processes.
    executions: u64,
    /// Sum of the times of all processes.
    time_s: f64,
    /// Mean time of a process.
    mean_s: f64,
    /// Time in the slowest process.
    longest_s: f64,
    /// Rank of that process.
    slowest: u32,
    /// Longest time over the mean; 1 is even.
    imbalance: Option<f64>,
    /// Part of all threads' time that they waited.
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
