//! Where the time went: the efficiency tree in words, and a line for each region.

use pacman_core::export::grid::{Column, Grid};
use pacman_regions::Cause;

use super::amount::{absent, number, of_unit, rounded, share};
use crate::run::report::{
    Efficiency, EfficiencyTree, FIGURES, Factor, FactorLoss, ProcessReport, Reason, RegionReport,
    SiteReport, ThreadState, words,
};
use crate::words::clean;

/// The tree of the process and the table of its first `shown` regions; empty if waits were not timed.
pub(super) fn section(process: &ProcessReport, shown: usize, width: usize) -> String {
    let mut text = String::new();
    if let Some(tree) = &process.efficiency {
        text.push_str(&format!("\n{}", program(process, tree)));
    }
    if let Some(table) = regions(process, shown) {
        text.push_str(&format!("\n{}", table.text(width)));
    }
    text
}

/// At most ten lines. The worst factor comes first.
fn program(process: &ProcessReport, tree: &EfficiencyTree) -> String {
    let mut lines = Vec::new();
    let blames = !process.lacks_processors();
    let Efficiency { parallel, .. } = tree.efficiency;
    lines.push(format!(
        "Parallel efficiency: {}{} of the time of {} was useful work.",
        share(parallel),
        match tree.margin {
            0.0 => String::new(),
            margin => format!(", within {},", share(margin)),
        },
        number(tree.threads, "thread")
    ));
    for (at, FactorLoss { factor, value, worst }) in tree.factors().into_iter().enumerate() {
        let lost = worst.filter(|(_, part)| *part >= WORTH).map(|(reason, part)| {
            format!(
                "; above all {}, {} of the time",
                reason_at(reason, &process.sites),
                share(part)
            )
        });
        let lost = lost.unwrap_or_default();
        lines.push(format!("  {:<14}{:>7}  {}{lost}", name(factor), share(value), meaning(factor)));
        if at == 0 && blames && value < 1.0 - WORTH {
            lines.push(format!("    {}", help(factor, worst.map(|(reason, _)| reason))));
        }
    }
    if let Some(share_on) = process.useful_processor_share() {
        let lost =
            "of useful time; the rest: others had the processor, or calls of the system blocked";
        lines.push(format!("  {:<14}{:>7}  {lost}", "on a processor", share(share_on)));
    }
    lines.iter().map(|line| format!("{}\n", clean(line))).collect()
}

/// The part of the time from which on a loss is worth a word.
const WORTH: f64 = 0.01;

pub(in crate::run) fn name(factor: Factor) -> &'static str {
    match factor {
        Factor::Mpi => "MPI",
        Factor::Serialization => "serialization",
        Factor::LoadBalance => "load balance",
        Factor::Scheduling => "scheduling",
    }
}

pub(in crate::run) fn meaning(factor: Factor) -> &'static str {
    match factor {
        Factor::Mpi => "the rest: time in MPI, and threads that waited for it",
        Factor::Serialization => "the rest: threads without a region",
        Factor::LoadBalance => "the rest: waits for threads that had more to do",
        Factor::Scheduling => "the rest: time that all threads lost alike",
    }
}

/// Advice in plain words.
pub(in crate::run) fn help(factor: Factor, worst: Option<Reason>) -> &'static str {
    let cause = match worst {
        Some(Reason::Site(_, cause)) => Some(cause),
        _ => None,
    };
    let is_wait = matches!(factor, Factor::LoadBalance | Factor::Scheduling);
    let blame = cause.filter(|_| is_wait).and_then(|cause| ThreadState::of(cause).blame.as_ref());
    if let Some(help) = blame.and_then(|blame| blame.help) {
        return help;
    }
    match (factor, cause) {
        (Factor::Mpi, _) => {
            "To help: give the ranks equal work, send less, or compute while messages travel."
        }
        (Factor::Serialization, _) => {
            "To help: run more of the program in regions; one thread works while the others have none."
        }
        (Factor::LoadBalance, Some(Cause::Single)) => {
            "To help: do less inside of the single, or give the other threads work meanwhile."
        }
        (Factor::LoadBalance, _) => {
            "To help: give the threads equal work before they meet, as by schedule(dynamic)."
        }
        (Factor::Scheduling, _) => {
            "To help: make regions and loops longer (merge them), leave out barriers, or use fewer threads."
        }
    }
}

/// A reason with its place.
pub(in crate::run) fn reason_at(reason: Reason, sites: &[SiteReport]) -> String {
    match reason {
        Reason::Start => "at the start of regions".into(),
        Reason::End => "at the end of regions".into(),
        Reason::Site(site, cause) => match sites.get(site) {
            Some(site) => at(site),
            None => words(cause).into(),
        },
    }
}

/// Kind and place of a construct.
pub(in crate::run) fn at(site: &SiteReport) -> String {
    match &site.site.call {
        Some(call) => format!("in {call}, {}", site.place()),
        None => format!("{}, {}", words(site.site.cause), site.place()),
    }
}

/// A reason in the line of a region.
pub(super) fn in_region(reason: Reason, sites: &[SiteReport]) -> String {
    match reason {
        Reason::Start => "for its start".into(),
        Reason::End => "at its end".into(),
        site => clean(&reason_at(site, sites)),
    }
}

/// A line for each region: its factors, and the reason for most of its waiting.
fn regions(process: &ProcessReport, shown: usize) -> Option<Grid> {
    let mut columns = vec![
        Column::right("useful", "%"),
        Column::right("load", "balance %"),
        Column::right("scheduling", "%"),
    ];
    let figures = || FIGURES.iter().filter_map(|figure| Some((figure, figure.heading?)));
    columns.extend(figures().map(|(_, [first, second])| Column::right(first, second)));
    columns.extend([
        Column::right("worst wait", "%"),
        Column::left("threads wait"),
        Column::label("region"),
    ]);
    let mut table = Grid::new(columns);
    let percent = |part: f64| rounded(100.0 * part, 1);
    let row = |region: &RegionReport| -> Option<Vec<String>> {
        let losses = &region.states.as_ref()?.losses;
        let efficiency = Efficiency::of_region(losses)?;
        let worst = losses.worst();
        let mut cells = vec![
            percent(efficiency.parallel),
            percent(efficiency.load_balance),
            percent(efficiency.scheduling),
        ];
        cells.extend(figures().map(|(figure, _)| of_unit((figure.of)(region), figure.unit)));
        cells.extend([
            worst.map_or_else(absent, |(_, part)| percent(part)),
            worst.map_or_else(absent, |(reason, _)| in_region(reason, &process.sites)),
            clean(&region.name.short()),
        ]);
        Some(cells)
    };
    let rows: Vec<Vec<String>> = process.regions[..shown].iter().filter_map(row).collect();
    let is_empty = rows.is_empty();
    rows.into_iter().for_each(|cells| table.row(cells));
    (!is_empty).then_some(table)
}
