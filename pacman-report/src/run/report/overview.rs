//! All ranks of an MPI program at a glance: a line for each rank, and the regions over all of them.

use std::collections::{BTreeSet, HashMap};

use pacman_regions::Ending;
use serde::Serialize;

use super::mpi_factors::MpiSummary;
use super::process::ProcessReport;
use super::total::total_of;

/// The ranks, and their regions together.
#[derive(Debug, Default)]
pub struct Overview {
    /// By rank; processes that a rank started come after it.
    pub(in crate::run) ranks: Vec<RankSummary>,
    /// Those with the most time first.
    pub(in crate::run) regions: Vec<RegionSummary>,
    /// The MPI calls of all processes.
    pub(in crate::run) mpi: MpiSummary,
    places: HashMap<Key, usize>,
}

/// A process of an MPI program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct RankSummary {
    /// Rank in `MPI_COMM_WORLD`.
    pub(in crate::run) rank: u32,
    /// Name of its host.
    pub(in crate::run) host: Option<String>,
    /// The kernel's number of its process.
    pub(in crate::run) pid: u32,
    /// Its wall time.
    #[serde(rename = "time_s")]
    pub(in crate::run) seconds: f64,
    /// Time in regions that were inside no other.
    #[serde(rename = "regions_s")]
    pub(in crate::run) in_regions: f64,
    /// Wall time that the waiting of its threads is worth.
    #[serde(rename = "waiting_s")]
    pub(in crate::run) waiting: f64,
    /// Time in MPI outside of regions; null without timed calls.
    #[serde(rename = "mpi_s")]
    pub(in crate::run) mpi: Option<f64>,
    /// Useful part of its threads' time; null without `--waits`.
    pub(in crate::run) parallel: Option<f64>,
    /// Whether a signal, or an end that nobody saw, cut off its regions or MPI calls.
    #[serde(skip)]
    pub(in crate::run) was_killed: bool,
}

/// A region in all ranks that ran it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct RegionSummary {
    /// Name of the region.
    pub(in crate::run) name: String,
    /// Source file.
    pub(in crate::run) file: Option<String>,
    /// Line of the source.
    pub(in crate::run) line: Option<u32>,
    /// Processes that ran it.
    pub(in crate::run) processes: usize,
    /// Executions in all processes.
    pub(in crate::run) executions: u64,
    /// Sum of the times of all processes.
    #[serde(rename = "time_s")]
    pub(in crate::run) seconds: f64,
    /// Mean time of a process.
    #[serde(rename = "mean_s")]
    pub(in crate::run) mean: f64,
    /// Time in the slowest process.
    #[serde(rename = "longest_s")]
    pub(in crate::run) longest: f64,
    /// Rank of that process.
    pub(in crate::run) slowest: u32,
    /// Longest time over the mean; 1 is even.
    pub(in crate::run) imbalance: Option<f64>,
    /// Part of all threads' time that they waited.
    pub(in crate::run) waiting: Option<f64>,
}

/// A region has the same name and source in all ranks.
type Key = (String, Option<String>, Option<u32>);

impl Overview {
    /// Adds a process. One without a rank has MPI calls at most.
    pub(in crate::run) fn add(&mut self, process: &ProcessReport) {
        self.mpi.add(process);
        let Some(rank) = process.process.rank else { return };
        let lost = total_of(process.regions.iter().map(|region| region.lost()));
        self.ranks.push(RankSummary {
            rank: rank.rank,
            host: process.process.host.clone(),
            pid: process.process.pid,
            seconds: process.process.seconds,
            in_regions: process.in_regions,
            waiting: lost,
            mpi: process.mpi.as_ref().map(|mpi| mpi.outside),
            parallel: process.efficiency.as_ref().map(|tree| tree.efficiency.parallel),
            was_killed: (process.has_figures() || process.mpi.is_some())
                && !matches!(process.process.ending, Ending::Exit | Ending::Exec),
        });
        for region in &process.regions {
            let name = &region.name;
            let key = (name.text.clone(), name.file.clone(), name.line);
            let place = *self.places.entry(key).or_insert_with(|| {
                self.regions.push(RegionSummary {
                    name: name.text.clone(),
                    file: name.file.clone(),
                    line: name.line,
                    slowest: rank.rank,
                    ..RegionSummary::default()
                });
                self.regions.len() - 1
            });
            let sum = &mut self.regions[place];
            if let Some(waiting) = region.waiting {
                let before = sum.waiting.unwrap_or(0.0) * sum.seconds;
                let seconds = sum.seconds + region.seconds;
                let all = before + waiting * region.seconds;
                sum.waiting = Some(if seconds > 0.0 { all / seconds } else { 0.0 });
            }
            sum.processes += 1;
            sum.executions += region.executions;
            sum.seconds += region.seconds;
            if region.seconds > sum.longest {
                (sum.longest, sum.slowest) = (region.seconds, rank.rank);
            }
        }
    }

    /// The overview in order.
    pub(in crate::run) fn finished(mut self) -> Overview {
        self.ranks.sort_by_key(|rank| (rank.rank, rank.pid));
        self.regions.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        for region in &mut self.regions {
            region.mean = region.seconds / region.processes as f64;
            region.imbalance = (region.seconds > 0.0).then(|| region.longest / region.mean);
        }
        self
    }

    /// A line about ranks that were killed: nobody knows when, unless their own command waited for them.
    pub fn killed(&self) -> Option<String> {
        let killed: BTreeSet<u32> =
            self.ranks.iter().filter(|rank| rank.was_killed).map(|rank| rank.rank).collect();
        (!killed.is_empty()).then(|| {
            format!(
                "{} did not end by exit, as after a signal or MPI_Abort: figures are up to the last region \
                 or MPI call that ended",
                named_ranks(killed)
            )
        })
    }

    /// Whether there are several ranks.
    pub(in crate::run) fn has_several(&self) -> bool {
        self.ranks.windows(2).any(|two| two[0].rank != two[1].rank)
    }
}

/// `rank 3`, or `ranks 3, 5, 6 and 12 others`, in their order.
pub fn named_ranks(ranks: impl IntoIterator<Item = u32>) -> String {
    let ranks: Vec<u32> = ranks.into_iter().collect();
    let text = |ranks: &[u32]| ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match (&ranks[..], ranks.len().saturating_sub(NAMED)) {
        ([one], _) => format!("rank {one}"),
        (all, 0) => format!("ranks {}", text(all)),
        (all, more) => format!("ranks {} and {more} others", text(&all[..NAMED])),
    }
}

/// Ranks that a line names.
const NAMED: usize = 8;
