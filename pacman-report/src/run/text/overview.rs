//! All ranks at a glance: a line for each rank, and the regions over all of them.

use pacman_core::export::grid::{Column, Grid};

use super::amount::{absent, rounded, seconds, share};
use crate::run::report::{Overview, RankSummary, RegionSummary};
use crate::words::{clean, grouped};

/// The section; on a terminal only the slowest ranks and the longest regions.
pub(super) fn section(overview: &Overview, is_short: bool, width: usize) -> String {
    let most = if is_short { SHOWN } else { usize::MAX };
    let mut ranks: Vec<&RankSummary> = overview.ranks.iter().collect();
    if ranks.len() > most {
        ranks.sort_by(|one, other| other.in_regions.total_cmp(&one.in_regions));
        ranks.truncate(most);
        ranks.sort_by_key(|rank| rank.rank);
    }
    let (all, shown) = (overview.ranks.len(), ranks.len());
    let mut text = format!("\n{}", rank_table(&ranks).text(width));
    if all > shown {
        text.push_str(&format!("the {shown} of {all} ranks with the most time in regions\n"));
    }
    let regions = &overview.regions[..overview.regions.len().min(most)];
    // Ranks may call MPI without any region.
    if !regions.is_empty() {
        text.push_str(&format!("\n{}", region_table(regions).text(width)));
    }
    text
}

fn rank_table(ranks: &[&RankSummary]) -> Grid {
    let mut table = Grid::new(vec![
        Column::right("rank", ""),
        Column::right("time", ""),
        Column::right("in regions", ""),
        Column::right("waiting", ""),
        Column::right("MPI", ""),
        Column::right("useful", "%"),
        Column::right("process", ""),
        Column::left("host"),
    ]);
    for rank in ranks {
        table.row(vec![
            rank.rank.to_string(),
            seconds(rank.seconds),
            seconds(rank.in_regions),
            seconds(rank.waiting),
            rank.mpi.map_or_else(absent, seconds),
            rank.parallel.map_or_else(absent, |part| rounded(100.0 * part, 1)),
            rank.pid.to_string(),
            rank.host.as_deref().map_or_else(absent, clean),
        ]);
    }
    table
}

fn region_table(regions: &[RegionSummary]) -> Grid {
    let mut table = Grid::new(vec![
        Column::right("ranks", ""),
        Column::right("executions", ""),
        Column::right("mean", "a rank"),
        Column::right("longest", "a rank"),
        Column::right("slowest", "rank"),
        Column::right("imbalance", "of ranks"),
        Column::right("waiting", "%"),
        Column::label("region in all ranks"),
    ]);
    for region in regions {
        table.row(vec![
            region.processes.to_string(),
            grouped(region.executions),
            seconds(region.mean),
            seconds(region.longest),
            region.slowest.to_string(),
            region.imbalance.map_or_else(absent, |value| format!("{value:.2}")),
            region.waiting.map_or_else(absent, share),
            clean(&region.name),
        ]);
    }
    table
}

/// Ranks, and regions, on standard error.
const SHOWN: usize = 16;
