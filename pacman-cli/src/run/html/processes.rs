//! An overview over several processes: a bar for each, in their order, and the regions of all ranks.

use super::escape::escaped;
use super::states::Parts;
use super::tables::{column, sortable, sorted_by};
use super::title;
use super::verdict;
use crate::run::names::last;
use crate::run::report::{Overview, ProcessReport, RankSummary, RegionSummary, Report};
use crate::run::text::{seconds, share};
use crate::stat::grouped;

/// A line about a process.
struct Line {
    /// Name and what is below it, escaped.
    name: String,
    label: String,
    parts: Parts,
    seconds: f64,
    useful: Option<f64>,
    verdict: &'static str,
}

/// The sections; empty for one process.
pub(super) fn overview(report: &Report, processes: &[&ProcessReport]) -> String {
    let mut lines: Vec<Line> =
        processes.iter().enumerate().map(|(place, process)| line(place, process)).collect();
    let shown: Vec<u32> = processes.iter().map(|process| process.process.pid).collect();
    let ranks = report.overview.ranks.iter();
    lines
        .extend(ranks.filter(|rank| rank.in_regions > 0.0 && !shown.contains(&rank.pid)).map(rank));
    if lines.len() < 2 {
        return String::new();
    }
    let whole = lines.iter().map(|line| line.seconds).fold(0.0, f64::max);
    let mut all = Parts::default();
    lines.iter().for_each(|line| all.add_all(&line.parts, 1.0));
    let row = |line: &Line| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"bar-cell\">{}</td>{}{}\
             <td class=\"words\">{}</td></tr>",
            line.name,
            line.parts.bar(whole, &line.label),
            sorted_by(Some(line.seconds), seconds),
            sorted_by(line.useful, share),
            line.verdict
        )
    };
    let rows: String = lines.iter().map(row).collect();
    let detailed = processes.len().min(DETAILED);
    let hint = match lines.len() - detailed {
        0 => String::new(),
        rest => format!(
            "<p class=\"hint\">Details are of the first {detailed}; JSON and CSV have those of \
             {rest} more.</p>"
        ),
    };
    let heading = [
        column("process", ""),
        "<th scope=\"col\" class=\"words\">time of all threads</th>".into(),
        column("run", ""),
        column("useful", ""),
        "<th scope=\"col\" class=\"words\">costs most</th>".into(),
    ];
    let hint = format!("{}{hint}", all.legend());
    let table = sortable("Processes", &hint, "processes", &heading.concat(), &rows);
    let regions = match report.overview.has_several() {
        true => regions(&report.overview),
        false => String::new(),
    };
    table + &regions
}

fn line(place: usize, process: &ProcessReport) -> Line {
    let label = title::process(process);
    let name = match place < DETAILED {
        true => format!("<a href=\"#{}\">{}</a>", title::process_id(place), escaped(&label)),
        false => escaped(&label),
    };
    let pid = process.process.rank.map(|_| format!("process {}", process.process.pid));
    let below = [Some(process.program().to_owned()), pid, process.process.host.clone()];
    let below: Vec<String> = below.into_iter().flatten().collect();
    Line {
        name: format!("{name}<small>{}</small>", escaped(&below.join(", "))),
        parts: Parts::of_process(process),
        seconds: process.process.seconds,
        useful: process.efficiency.as_ref().map(|tree| tree.efficiency.parallel),
        verdict: verdict::of(&[process]).map_or("", |verdict| verdict.kind.words()),
        label,
    }
}

/// A process of which the overview alone is known.
fn rank(rank: &RankSummary) -> Line {
    let label = format!("rank {}", rank.rank);
    let below = [Some(format!("process {}", rank.pid)), rank.host.clone()];
    let below: Vec<String> = below.into_iter().flatten().collect();
    Line {
        name: format!("{label}<small>{}</small>", escaped(&below.join(", "))),
        parts: Parts::of_times(rank.seconds, rank.in_regions, rank.waiting),
        seconds: rank.seconds,
        useful: rank.parallel,
        verdict: "",
        label,
    }
}

/// The regions in all ranks.
fn regions(overview: &Overview) -> String {
    let heading = [
        column("region", ""),
        column("ranks", ""),
        column("executions", ""),
        column("mean", "a rank"),
        column("longest", "a rank"),
        column("slowest", "rank"),
        column("imbalance", "longest / mean"),
        column("waiting", "of threads"),
    ];
    let row = |region: &RegionSummary| {
        let place = region.file.as_ref().map(|file| match region.line {
            Some(line) => format!("{}:{line}", last(file)),
            None => last(file).to_owned(),
        });
        let place = place.filter(|place| !region.name.contains(place.as_str()));
        let place = place.map_or_else(String::new, |place| {
            format!(" <span class=\"place\">{}</span>", escaped(&place))
        });
        format!(
            "<tr><th scope=\"row\">{}{place}</th><td>{}</td><td data-v=\"{}\">{}</td>{}{}<td>{}</td>\
             {}{}</tr>",
            escaped(&region.name),
            region.processes,
            region.executions,
            grouped(region.executions),
            sorted_by(Some(region.seconds / region.processes.max(1) as f64), seconds),
            sorted_by(Some(region.longest), seconds),
            region.slowest,
            sorted_by(region.imbalance(), |value| format!("{value:.2}")),
            sorted_by(region.waiting, share),
        )
    };
    let rows: String = overview.regions.iter().take(REGIONS).map(row).collect();
    sortable("Regions in all ranks", "", "ranks", &heading.concat(), &rows)
}

/// Processes with sections of their own.
pub(super) const DETAILED: usize = 16;
/// Regions over all ranks.
const REGIONS: usize = 100;
