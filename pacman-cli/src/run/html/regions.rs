//! The table of all regions.

use super::colour::colour;
use super::escape::escaped;
use super::order;
use super::tables::{column, sortable, sorted_by};
use crate::run::report::{Efficiency, ProcessReport, Reason, RegionReport};
use crate::run::text::{number, reason_at, sampling_line, seconds, share, within};
use crate::stat::grouped;

/// The section.
pub(super) fn section(process: &ProcessReport, place: usize) -> String {
    let is_timed = process.regions.iter().any(|region| region.states.is_some());
    let mut heading = [
        column("region", ""),
        column("time", ""),
        column("share", "of the run"),
        column("executions", ""),
        column("each", "mean"),
        column("threads", ""),
        column("imbalance", "busiest / mean"),
    ]
    .concat();
    if !is_timed {
        heading += &column("waiting", "at the end");
    } else {
        heading += &[
            column("useful", "of thread time"),
            column("load balance", ""),
            column("scheduling", ""),
            "<th scope=\"col\" class=\"words\">longest wait</th>".into(),
        ]
        .concat();
    }
    let longest = process.regions.first().map_or(0.0, |region| region.seconds);
    let with_panel = order::shown(process);
    let row = |(at, region): (usize, &RegionReport)| {
        let panel = with_panel.contains(&at).then(|| format!("panel-{place}-{at}"));
        let mut cells = title(region, at, panel.as_deref(), process.threads);
        let width = if longest > 0.0 { 100.0 * region.seconds / longest } else { 0.0 };
        cells.push_str(&format!(
            "<td data-v=\"{}\">{}<span class=\"length\"><span class=\"{}\" \
             style=\"width:{width:.2}%\"></span></span></td>",
            region.seconds,
            escaped(&seconds(region.seconds)),
            colour(at),
        ));
        cells.push_str(&sorted_by(region.share, share));
        cells.push_str(&format!(
            "<td data-v=\"{}\">{}</td>",
            region.executions,
            grouped(region.executions)
        ));
        cells.push_str(&sorted_by(region.mean, seconds));
        cells.push_str(&format!("<td>{}</td>", escaped(&region.team_sizes())));
        cells.push_str(&sorted_by(region.imbalance, |value| {
            format!("{value:.2}{}", within(region.imbalance_margin, 2))
        }));
        // Where waits are timed, tasks after a thread's part are no waiting.
        cells.push_str(&match is_timed {
            false => sorted_by(region.waiting, |part| {
                let margin = region.sampling.map(|sampling| 100.0 * sampling.margin);
                format!("{}{}", share(part), within(margin, 1))
            }),
            true => states(process, region),
        });
        format!("<tr>{cells}</tr>")
    };
    let rows: String = order::listed(process).map(row).collect();
    let left_out = process.regions.len() - order::listed(process).count();
    let left_out = match left_out {
        0 => String::new(),
        rest => format!(
            "<p class=\"hint\">{} with less time are in JSON and CSV only.</p>",
            number(rest, "region")
        ),
    };
    let sampled = sampling_line(process)
        .map_or_else(String::new, |line| format!("<p class=\"hint\">{}</p>", escaped(&line)));
    sortable("Regions", &format!("{HINT}{sampled}{left_out}"), "regions", &heading, &rows)
}

const HINT: &str = "<p class=\"hint if-scripted\">A heading sorts the table. A name shows the region’s threads.</p>";

/// The first cell, which leads to the region's panel if it has one.
fn title(region: &RegionReport, at: usize, panel: Option<&str>, default: u32) -> String {
    let name = format!("<span class=\"name\">{}</span>", escaped(&region.name.short()));
    let name = match panel {
        Some(panel) => format!(
            "<a class=\"region\" href=\"#{panel}\" data-choose=\"{at}\" title=\"{}\">{name}</a>",
            escaped(&region.name.text)
        ),
        None => name,
    };
    let code = region.place().map_or_else(String::new, |code| {
        format!(" <span class=\"place\">{}</span>", escaped(&code))
    });
    let nested = match (region.nested, region.within) {
        (0, _) => "",
        (_, 0) => " <span class=\"tag\">nested</span>",
        _ => " <span class=\"tag\">recursive</span>",
    };
    let open =
        if region.open.is_some() { " <span class=\"tag\">open at the end</span>" } else { "" };
    let chosen = region.adaptation.as_ref().map_or_else(String::new, |adaptation| {
        let (threads, narrow) = (adaptation.threads, adaptation.threads < default);
        let words = match narrow {
            true => format!("adapted: {threads} of {default} threads"),
            false => format!("keeps {}", number(threads as usize, "thread")),
        };
        format!(" <span class=\"tag{}\">{words}</span>", if narrow { " chosen" } else { "" })
    });
    format!(
        "<th scope=\"row\" data-v=\"{at}\"><i class=\"swatch {}\"></i><b class=\"number\">{}</b> \
         {name}{code}{nested}{open}{chosen}</th>",
        colour(at),
        at + 1,
    )
}

/// The factors of the region, and the reason for most of its waiting.
fn states(process: &ProcessReport, region: &RegionReport) -> String {
    let losses = region.states.as_ref().map(|states| &states.losses);
    let efficiency = losses.and_then(Efficiency::of_region);
    let worst = losses.and_then(|losses| losses.worst());
    let words = worst.map(|(reason, part)| {
        let at = match reason {
            Reason::Start => "for its start".into(),
            Reason::End => "at its end".into(),
            site => reason_at(site, &process.sites),
        };
        format!("{at}, {}", share(part))
    });
    format!(
        "{}{}{}<td class=\"words\" data-v=\"{}\">{}</td>",
        sorted_by(efficiency.map(|efficiency| efficiency.parallel), share),
        sorted_by(efficiency.map(|efficiency| efficiency.load_balance), share),
        sorted_by(efficiency.map(|efficiency| efficiency.scheduling), share),
        worst.map_or(0.0, |(_, part)| part),
        escaped(&words.unwrap_or_else(|| "–".into())),
    )
}
