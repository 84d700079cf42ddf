//! All ranks at a glance in JSON.

use serde::Serialize;

use super::json_states;
use super::report::{MpiCall, MpiFactors, Overview, RankSummary, RegionSummary};

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Ranks<'a> {
    /// Ranks.
    processes: &'a [RankSummary],
    /// Regions of the same name and source, longest first.
    regions: &'a [RegionSummary],
    /// TALP's factors over the processes that called MPI; null without `--waits`.
    mpi: Option<MpiFactors>,
    /// The same, worst first; empty like that.
    mpi_factors: Vec<json_states::Factor>,
    /// MPI functions, those with the most time first.
    calls: &'a [MpiCall],
}

pub(super) fn ranks(overview: &Overview) -> Option<Ranks<'_>> {
    let mpi = MpiFactors::of(&overview.mpi.times);
    overview.has_several().then(|| Ranks {
        processes: &overview.ranks,
        regions: &overview.regions,
        mpi_factors: mpi.as_ref().map_or_else(Vec::new, json_states::mpi_factors),
        mpi,
        calls: &overview.mpi.calls,
    })
}
