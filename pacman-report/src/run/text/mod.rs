//! The report for a terminal: tables of regions, counts, threads and what adaptation did.

mod adaptation;
mod amount;
mod efficiency;
mod energy;
mod mpi;
mod overview;
mod phases;
mod sampling;
mod slots;
mod spread;
mod threads;
mod waits;

use super::findings;
use super::report::{Figures, ProcessReport, RegionReport, Report};
use crate::exit::Exit;
use crate::words::{clean, grouped};
use amount::{absent, left_out_here, percent};
pub(super) use amount::{joules, metric, number, quantity, rate, watts};
pub(crate) use amount::{of_unit, rounded, seconds, share, signed};
pub(super) use efficiency::{at, help, meaning, name, reason_at};
pub(super) use mpi::{meaning as mpi_meaning, name as mpi_name};
use pacman_core::Provenance;
use pacman_core::event::installed;
use pacman_core::export::grid::{Column, Grid, fitted};
use pacman_events::plural;
use pacman_events::shown::command_line;
pub(super) use sampling::within;
pub(super) use slots::sentence as smt_off_sentence;

/// The parts of a report that its reader asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// On a terminal, where a report is between the program's output and the prompt.
    pub is_short: bool,
    /// A line for each thread of wide teams, too.
    pub each_thread: bool,
}

/// The whole report; on a terminal, between the program's output and the prompt, not all of it. Lines
/// have at most `width` columns.
pub(super) fn write(report: &Report, extent: Extent, width: usize) -> String {
    let Extent { is_short, .. } = extent;
    let busy: String = report.busy.iter().map(|line| format!("{}\n", clean(line))).collect();
    let mut text = format!("\n{busy}{}\n", heading(report));
    if !is_short {
        text.push_str(&format!("{}\n", made(&report.provenance)));
    }
    if let Some(line) = tables(report) {
        text.push_str(&format!("{}\n", clean(&line)));
    }
    if let Some(simulated) = &report.simulated {
        text.push_str(&format!(
            "SIMULATED: counts are those of {simulated}, not of this machine\n"
        ));
    }
    if report.overview.has_several() {
        text.push_str(&overview::section(&report.overview, is_short, width));
    }
    text.push_str(&mpi::section(report, is_short, width));
    let mut notes: Vec<String> = Vec::new();
    if report.left_out > 0 {
        let of_all = "the first ranks are shown in full here; a report in .json or .csv has all";
        let (processes, are) =
            (number(report.left_out, "more process"), plural::is(report.left_out));
        notes.push(format!("{processes} {are} left out: {of_all}"));
    }
    let several = report.processes.len() > 1;
    for process in report.observed() {
        text.push_str(&format!("\n{}\n", about(process)));
        let shown = shown(process, is_short);
        if shown > 0 {
            text.push_str(&format!("\n{}", regions(process, shown).text(width)));
        }
        let left_out = process.regions.len() - shown;
        if left_out > 0 {
            text.push_str(&left_out_here(left_out, "region"));
        }
        text.push_str(&efficiency::section(process, shown, width));
        if let Some(table) = waits::table(process, shown, is_short) {
            text.push_str(&format!("\n{}", table.text(width)));
        }
        text.push_str(&slots::section(process, shown, extent.each_thread, width));
        let [threads, teams] = threads::tables(process, shown, extent);
        for table in [
            counts(process, shown),
            counts_by_state(process, shown),
            energy::table(process, shown),
            threads,
            teams,
        ]
        .into_iter()
        .flatten()
        {
            text.push_str(&format!("\n{}", table.text(width)));
        }
        text.push_str(&adaptation::table(process, shown, width));
        text.push_str(&phases::section(process, extent, width));
        text.push_str(&findings(process));
        let of_process = |note: &String| match several {
            true => format!("process {}: {note}", process.process.pid),
            false => note.clone(),
        };
        notes.extend(sampling::line(process).iter().map(of_process));
        notes.extend(process.notes.iter().map(of_process));
    }
    let silent = report.processes.len() - report.observed().count();
    if silent > 0 && silent < report.processes.len() {
        let silent = number(silent, "more process");
        notes.push(format!("in {silent} no region ran and no phase was marked"));
    }
    notes.extend(report.notes.iter().cloned());
    if report.observed().any(is_mixed) {
        notes.push("*  teams of several sizes: imbalance is of the one that ran longest".into());
    }
    if !notes.is_empty() {
        text.push('\n');
        notes.iter().for_each(|note| text.push_str(&format!("{}\n", clean(note))));
    }
    fitted(&text, width)
}

/// A line for each finding, with the gain that it predicts.
fn findings(process: &ProcessReport) -> String {
    let findings = findings::of(process);
    let lines = findings
        .iter()
        .map(|finding| format!("{:>9}  {}\n", finding.gain(), clean(&finding.line())));
    let lines: String = lines.collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\nFindings, with the time that each may gain:\n{lines}")
    }
}

fn heading(report: &Report) -> String {
    let mut line = command_line(&report.command);
    line.push_str(&format!(": {}", seconds(report.ended.seconds)));
    let processes = report.processes.len() + report.left_out;
    if processes > 1 {
        line.push_str(&format!(", {processes} processes"));
    }
    if report.ended.exit != Exit::Status(0) {
        line.push_str(&format!(", {}", report.ended.exit));
    }
    if let Some(start) = &report.start {
        line.push_str(&format!(", {start}"));
    }
    if let Some(objective) = &report.objective {
        line.push_str(&format!(", adapted for {objective}"));
    }
    if let Some(energy) = &report.energy {
        let power = energy.watts().map_or_else(String::new, |power| format!(" ({})", watts(power)));
        line.push_str(&format!(", packages used {}{power}", joules(energy.joules)));
    }
    line
}

/// Where, when and by which version the report was made.
fn made(provenance: &Provenance) -> String {
    let processor = provenance.processor.as_deref().unwrap_or("unknown processor");
    clean(&format!(
        "on {}: {processor}, {}; {}; pacman-pmu {}",
        provenance.host,
        provenance.system,
        provenance.date(),
        provenance.version
    ))
}

/// The events whose codes installed tables gave; `None` where no event has one.
fn tables(report: &Report) -> Option<String> {
    let mut known: Vec<(&str, Option<&str>)> = Vec::new();
    for event in report.observed().flat_map(|process| &process.columns.events) {
        let named = (&*event.name, event.table.as_deref());
        if !known.contains(&named) {
            known.push(named);
        }
    }
    installed::note(known)
}

fn about(process: &ProcessReport) -> String {
    let regions = number(process.regions.len(), "region");
    let overhead = match process.overhead.nanoseconds {
        Some(nanoseconds) => {
            format!("; observing took {} an execution", seconds(nanoseconds * 1e-9))
        }
        None => String::new(),
    };
    if process.regions.is_empty() {
        return format!(
            "{} (process {}{}): {} in {}",
            clean(process.program()),
            process.process.pid,
            mpi::place(process),
            number(process.phases.len(), "phase"),
            seconds(process.process.seconds),
        );
    }
    format!(
        "{} (process {}{}): {}, {} on {}; {} of {} in {regions}{overhead}",
        clean(process.program()),
        process.process.pid,
        mpi::place(process),
        clean(&process.runtimes()),
        number(process.threads as usize, "thread"),
        number(process.contexts as usize, "context"),
        share(process.share()),
        seconds(process.process.seconds),
    )
}

fn shown(process: &ProcessReport, is_short: bool) -> usize {
    if is_short { process.regions.len().min(REGIONS) } else { process.regions.len() }
}

fn is_mixed(process: &ProcessReport) -> bool {
    process.regions.iter().any(|region| region.teams.len() > 1)
}

fn regions(process: &ProcessReport, shown: usize) -> Grid {
    let mut table = Grid::new(vec![
        Column::right("time", ""),
        Column::right("share", "%"),
        Column::right("executions", ""),
        Column::right("mean", ""),
        Column::right("threads", ""),
        Column::right("imbalance", ""),
        Column::right("waiting", "%"),
        Column::label("region"),
    ]);
    for region in &process.regions[..shown] {
        let mark = if region.teams.len() > 1 { "*" } else { "" };
        table.row(vec![
            seconds(region.seconds),
            percent(region.share),
            grouped(region.executions),
            region.mean.map_or_else(absent, seconds),
            region.team_sizes(),
            region.imbalance.map_or_else(absent, |value| {
                format!("{value:.2}{}{mark}", within(region.imbalance_margin, 2))
            }),
            region.waiting.map_or_else(absent, |part| {
                format!("{}{}", rounded(100.0 * part, 1), within(sampling::percent(region), 1))
            }),
            title(region),
        ]);
    }
    table
}

/// Name and place of a region; regions inside others say so.
fn title(region: &RegionReport) -> String {
    let mut title = clean(&region.name.short());
    if let Some(place) = region.place().filter(|place| !title.contains(place.as_str())) {
        title.push_str(&format!("  {}", clean(&place)));
    }
    if region.nested > 0 {
        title.push_str(if region.nested == region.executions {
            "  nested"
        } else {
            "  partly nested"
        });
    }
    if region.open.is_some() {
        title.push_str("  open at the end");
    }
    if region.within > 0 {
        title.push_str("  recursive");
    }
    title
}

fn counts(process: &ProcessReport, shown: usize) -> Option<Grid> {
    let mut table = counts_table(process, Vec::new()).filter(|_| shown > 0)?;
    for region in &process.regions[..shown] {
        let mut cells = figures(process, &region.figures);
        cells.push(clean(&region.name.short()));
        table.row(cells);
    }
    Some(table)
}

/// Two lines for each region whose waits were counted.
fn counts_by_state(process: &ProcessReport, shown: usize) -> Option<Grid> {
    let mut table = counts_table(process, vec![Column::left("counts of")])?;
    let regions = process.regions[..shown].iter();
    let mut is_empty = true;
    for (region, by_state) in regions.filter_map(|region| Some((region, region.by_state.as_ref()?)))
    {
        let name = clean(&region.name.short());
        for (state, own) in [("useful time", &by_state.useful), ("waits", &by_state.waiting)] {
            let cells = [vec![state.to_owned()], figures(process, own), vec![name.clone()]];
            table.row(cells.concat());
            is_empty = false;
        }
    }
    (!is_empty).then_some(table)
}

/// A table with columns for counts between `before` and the region's name.
fn counts_table(process: &ProcessReport, before: Vec<Column>) -> Option<Grid> {
    let columns = &process.columns;
    let counted = columns.counted();
    if counted.is_empty() {
        return None;
    }
    let mut heading = before;
    for (_, event) in &counted {
        let unit = if event.unit == "ns" { "" } else { event.unit.as_str() };
        heading.push(Column::right(&event.title(), unit));
        heading.push(Column::right("rate", ""));
    }
    heading.extend(columns.metrics.titles().map(|(title, _)| Column::right(&title, "")));
    heading.push(Column::label("region"));
    Some(Grid::new(heading))
}

/// The cells of one line for these columns.
fn figures(process: &ProcessReport, figures: &Figures) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for (at, event) in process.columns.counted() {
        cells.push(quantity(figures.counts[at], &event.unit));
        let in_second = figures.rates[at].map(|value| rate(value, &event.unit));
        cells.push(in_second.unwrap_or_else(absent));
    }
    let metrics = figures.metrics.iter();
    cells.extend(metrics.map(|value| value.map_or_else(absent, metric)));
    cells
}

/// Regions on standard error.
const REGIONS: usize = 20;
