//! All ranks at a glance in JSON.

use serde::Serialize;

use super::json_states;
use super::report::{MpiCall, MpiFactors, MpiReport, Overview, RankSummary, RegionSummary};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Ranks<'a> {
    /// Ranks.
    processes: &'a [RankSummary],
    /// Regions of the same name and source, longest first.
    regions: Vec<Region<'a>>,
    /// TALP's factors over the processes that called MPI; null without `--waits`.
    mpi: Option<MpiFactors>,
    /// The same, worst first; empty like that.
    mpi_factors: Vec<json_states::Factor>,
    /// MPI functions, those with the most time first.
    calls: &'a [MpiCall],
}

/// The MPI calls of one process.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Mpi<'a> {
    /// Time outside of regions, of the thread that starts regions.
    outside_s: f64,
    /// MPI functions, those with the most time first.
    calls: &'a [MpiCall],
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
    let mpi = MpiFactors::of(&overview.mpi.times);
    overview.has_several().then(|| Ranks {
        processes: &overview.ranks,
        regions: overview.regions.iter().map(region).collect(),
        mpi_factors: mpi.as_ref().map_or_else(Vec::new, json_states::mpi_factors),
        mpi,
        calls: &overview.mpi.calls,
    })
}

/// The MPI calls of a process, if they were timed and there are any.
pub(super) fn mpi(mpi: &MpiReport) -> Mpi<'_> {
    Mpi { outside_s: mpi.outside, calls: &mpi.calls }
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
