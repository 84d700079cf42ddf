//! Tables of all regions: counts, energy, and what adaptation did.

use super::escape::escaped;
use super::order;
use super::title::heading_cell;
use crate::run::report::{ProcessReport, RegionReport, mean};
use crate::run::text::{difference, joules, metric, quantity, rate, seconds, watts};
use crate::stat::grouped;
use pacman_events::plural::number;

/// Counts and rates by region, with the metrics that follow; empty if nothing was counted.
pub(super) fn counts(process: &ProcessReport) -> String {
    let columns = &process.columns;
    let counted = columns.counted();
    if counted.is_empty() {
        return String::new();
    }
    let mut heading = "<th scope=\"col\">region</th>".to_owned();
    for (_, event) in &counted {
        heading.push_str(&column(&event.title(), &format!("{}, and per busy second", event.unit)));
    }
    for (title, unit) in columns.metrics.titles() {
        heading.push_str(&column(&title, unit));
    }
    let row = |(at, region): (usize, &RegionReport)| {
        let figures = &region.figures;
        let mut cells = heading_cell(region, at);
        for (at, event) in &counted {
            let in_second = figures.rates[*at].map_or_else(String::new, |value| {
                format!("<small>{}</small>", escaped(&rate(value, &event.unit)))
            });
            let count = quantity(figures.counts[*at], &event.unit);
            cells.push_str(&format!("<td>{}{in_second}</td>", escaped(&count)));
        }
        for value in &figures.metrics {
            cells.push_str(&cell(value.map(metric)));
        }
        format!("<tr>{cells}</tr>")
    };
    let rows: String = order::listed(process).map(row).collect();
    table("Counts", "", &heading, &rows)
}

/// The energy of the packages by region; empty if none was read.
pub(super) fn energy(process: &ProcessReport) -> String {
    let Some(whole) = &process.energy else { return String::new() };
    let names = [
        ("region", ""),
        ("energy", "of the packages"),
        ("resolution", "±"),
        ("power", "mean"),
        ("time", "between readings"),
        ("executions", "with energy"),
    ];
    let names = names.iter().map(|(name, what)| {
        let what = if what.is_empty() { String::new() } else { format!("<small>{what}</small>") };
        format!("<th scope=\"col\">{name}{what}</th>")
    });
    let row = |(at, region): (usize, &RegionReport)| {
        let energy = region.energy.filter(|energy| energy.executions > 0);
        let cells = [
            energy.map(|energy| joules(energy.joules)),
            energy.map(|energy| joules(energy.resolution)),
            energy.and_then(|energy| energy.watts).map(watts),
            energy.map(|energy| seconds(energy.seconds)),
            energy.map(|energy| grouped(energy.executions)),
        ];
        format!("<tr>{}{}</tr>", heading_cell(region, at), cells.map(cell).concat())
    };
    let rows: String = order::listed(process).map(row).collect();
    let all = [
        Some(joules(whole.joules)),
        None,
        mean(whole.joules, whole.seconds).map(watts),
        Some(seconds(whole.seconds)),
        None,
    ];
    let all =
        format!("<tr><th scope=\"row\">the whole process</th>{}</tr>", all.map(cell).concat());
    table("Energy", PACKAGES, &names.collect::<String>(), &(rows + &all))
}

const PACKAGES: &str = "<p class=\"hint\">Energy is of whole processor packages, with everything \
    that runs there, also other programs. A region inside another one is part of it.</p>";

/// The controller's choices and reasons; empty if it only observed.
pub(super) fn adaptation(process: &ProcessReport) -> String {
    if !process.is_adapted() {
        return String::new();
    }
    let names = [
        ("region", ""),
        ("threads", "chosen"),
        ("gained", "below 0: lost"),
        ("reduced", "executions on fewer"),
        ("state", "of the search"),
    ];
    let names = names.iter().map(|(name, what)| {
        let what = if what.is_empty() { String::new() } else { format!("<small>{what}</small>") };
        format!("<th scope=\"col\">{name}{what}</th>")
    });
    let heading = names.collect::<String>() + "<th scope=\"col\" class=\"words\">why</th>";
    let row = |(at, region): (usize, &RegionReport)| {
        let adaptation = region.adaptation.as_ref()?;
        let gained = adaptation.gained.map_or_else(
            || "<td>–</td>".to_owned(),
            |gained| {
                let class = if gained < 0.0 { "loss" } else { "gain" };
                format!("<td><b class=\"{class}\">{}</b></td>", escaped(&difference(gained)))
            },
        );
        Some(format!(
            "<tr>{}<td>{}<small>{}</small></td>{gained}<td>{}</td><td>{}</td>\
             <td class=\"words\">{}</td></tr>",
            heading_cell(region, at),
            chosen(adaptation.threads, process.threads),
            escaped(&placed(&adaptation.configuration)),
            grouped(adaptation.reduced),
            escaped(&adaptation.state),
            escaped(&adaptation.why),
        ))
    };
    let rows: String = order::listed(process).filter_map(row).collect();
    table("Adaptation", READING, &heading, &rows)
}

/// `1 of 2`, in bold where it is fewer.
fn chosen(threads: u32, default: u32) -> String {
    match threads < default {
        true => format!("<b>{threads}</b> of {default}"),
        false => threads.to_string(),
    }
}

/// `2x1` in words.
fn placed(configuration: &str) -> String {
    match configuration.split_once('x') {
        Some((cores, each)) => match cores.parse::<u32>() {
            Ok(cores) => format!("{} x {each}", number(cores, "core")),
            Err(_) => String::new(),
        },
        None => String::new(),
    }
}

const READING: &str = "<p class=\"hint\">Gains are reckoned against the threads that the program \
    has by itself. 2x1 is 2 cores with 1 thread on each. A region that is sampling still tries \
    others; one that is holding has decided.</p>";

fn table(title: &str, hint: &str, heading: &str, rows: &str) -> String {
    section(title, hint, "", heading, rows)
}

/// A section with a table that the page's script sorts by its cells' `data-v` or text; without a
/// title the table alone.
pub(super) fn sortable(title: &str, hint: &str, class: &str, heading: &str, rows: &str) -> String {
    section(title, hint, &format!(" class=\"sortable {class}\""), heading, rows)
}

/// A wide table scrolls by itself, and its first column stays.
fn section(title: &str, hint: &str, class: &str, heading: &str, rows: &str) -> String {
    let label = if title.is_empty() { "Threads" } else { title };
    let table = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\"><table{class}>\
         <thead><tr>{heading}</tr></thead><tbody>{rows}</tbody></table></div>"
    );
    match title {
        "" => table,
        title => format!("<section><h2>{title}</h2>{hint}{table}</section>\n"),
    }
}

/// The heading of a column, with its unit.
pub(super) fn column(name: &str, unit: &str) -> String {
    let unit = match unit {
        "" => String::new(),
        unit => format!("<small>{}</small>", escaped(unit)),
    };
    format!("<th scope=\"col\">{}{unit}</th>", escaped(name))
}

/// A cell of a sortable table; a dash where there is nothing.
pub(super) fn sorted_by(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    match value {
        Some(value) => format!("<td data-v=\"{value}\">{}</td>", escaped(&text(value))),
        None => cell(None),
    }
}

/// A cell; a dash where there is nothing.
pub(super) fn cell(value: Option<String>) -> String {
    format!("<td>{}</td>", value.map_or_else(|| "–".into(), |value| escaped(&value)))
}
