//! All ranks at a glance in JSON.

use serde::Serialize;

use super::report::{Overview, RankSummary, RegionSummary};

#[derive(Serialize)]
pub(super) struct Ranks<'a> {
    processes: Vec<Process<'a>>,
    regions: Vec<Region<'a>>,
}

#[derive(Serialize)]
struct Process<'a> {
    rank: u32,
    host: Option<&'a str>,
    pid: u32,
    time_s: f64,
    regions_s: f64,
    waiting_s: f64,
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

pub(super) fn ranks(overview: Option<&Overview>) -> Option<Ranks<'_>> {
    let overview = overview?;
    Some(Ranks {
        processes: overview.ranks.iter().map(process).collect(),
        regions: overview.regions.iter().map(region).collect(),
    })
}

fn process(rank: &RankSummary) -> Process<'_> {
    Process {
        rank: rank.rank,
        host: rank.host.as_deref(),
        pid: rank.pid,
        time_s: rank.seconds,
        regions_s: rank.in_regions,
        waiting_s: rank.waiting,
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
