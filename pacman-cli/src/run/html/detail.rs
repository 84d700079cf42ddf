//! The panel of one region: the states of its threads, its figures, its waits by place, what
//! adaptation made of it.

use pacman_events::shown::text_of;
use pacman_regions::Adaptation;

use super::colour::colour;
use super::escape::escaped;
use super::order::{self, lost_part};
use super::states;
use crate::run::report::{FIGURES, ProcessReport, Reason, RegionReport};
use crate::run::text::{executions, number, of_unit, reason_at, seconds, share};
use crate::stat::grouped;

/// The panels in their order, and the list to choose one from.
pub(super) fn section(process: &ProcessReport, place: usize) -> String {
    let shown = order::shown(process);
    let option = |&at: &usize| {
        let region = &process.regions[at];
        let lost =
            lost_part(region).map_or_else(String::new, |part| format!(" ({} lost)", share(part)));
        format!(
            "<option value=\"{at}\">{} {}{}</option>",
            at + 1,
            escaped(&region.name.short()),
            escaped(&lost)
        )
    };
    let options: String = shown.iter().map(option).collect();
    let panels: String =
        shown.iter().map(|&at| panel(process, &process.regions[at], at, place)).collect();
    let (several, rest) = (shown.len() > 1, process.regions.len() - shown.len());
    let rest = match rest {
        0 => String::new(),
        rest => format!(
            "<p class=\"hint\">{} have rows in the table only.</p>",
            number(rest, "more region")
        ),
    };
    format!(
        "<section class=\"where\"><div class=\"head\"><h2>States of the threads</h2>\
         <label class=\"chooser\"{}>Region <select>{options}</select></label></div>\
         {panels}{rest}</section>\n",
        if several { "" } else { " hidden" }
    )
}

fn panel(process: &ProcessReport, region: &RegionReport, at: usize, place: usize) -> String {
    format!(
        "<article class=\"panel\" id=\"panel-{place}-{at}\" data-of=\"{at}\"><h3{}>\
         <i class=\"swatch {}\"></i><b class=\"number\">{}</b> {}{}</h3>{}{}{}{}</article>",
        if region.name.short() == region.name.text { "" } else { " class=\"long\"" },
        colour(at),
        at + 1,
        escaped(&region.name.text),
        region.place().map_or_else(String::new, |code| {
            format!(" <span class=\"place\">{}</span>", escaped(&code))
        }),
        states::threads(region),
        waits(process, region),
        facts(process, region),
        region.adaptation.as_ref().map_or_else(String::new, adapted),
    )
}

fn facts(process: &ProcessReport, region: &RegionReport) -> String {
    let runtime = process.runtimes.get(region.runtime).map(crate::run::report::runtime);
    let range = format!("{} to {}", seconds(region.shortest), seconds(region.longest));
    let mut facts = vec![
        ("executions".to_owned(), grouped(region.executions)),
        ("each".to_owned(), region.mean.map_or_else(|| "–".into(), seconds)),
        ("shortest to longest".to_owned(), range),
        ("observing".to_owned(), region.overhead.map_or_else(|| "–".into(), share)),
    ];
    if region.nested > 0 {
        facts.push(("inside others".to_owned(), grouped(region.nested)));
    }
    facts.extend(FIGURES.iter().filter_map(|figure| {
        let value = (figure.of)(region)?;
        Some((figure.heading?.join(" "), of_unit(Some(value), figure.unit)))
    }));
    let fact = |(name, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value))
    };
    let facts = facts.iter().map(fact);
    let file = region.name.file.as_ref().map(|file| match region.name.line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    });
    let module = format!("{}+{:#x}", text_of(&region.site.module), region.site.address);
    let origin = [file, Some(module), Some(region.entry.clone()), runtime];
    let origin: Vec<String> = origin.iter().flatten().map(|part| escaped(part)).collect();
    format!(
        "<dl class=\"facts\">{}</dl><p class=\"origin\">{}</p>",
        facts.collect::<String>(),
        origin.join(" · ")
    )
}

/// The waits by place, the longest first.
fn waits(process: &ProcessReport, region: &RegionReport) -> String {
    let Some(states) = &region.states else { return String::new() };
    let losses = &states.losses;
    let count = |reason: &Reason| -> Option<u64> {
        let Reason::Site(site, _) = reason else { return None };
        let waits = states.threads.iter().flat_map(|thread| &thread.waits);
        Some(waits.filter(|wait| wait.0 == *site).map(|wait| wait.2).sum())
    };
    let mut rows: Vec<(&Reason, f64)> =
        losses.reasons.iter().map(|(reason, (uneven, common))| (reason, uneven + common)).collect();
    rows.retain(|(_, time)| *time > 0.0);
    rows.sort_by(|one, other| other.1.total_cmp(&one.1));
    if rows.is_empty() || losses.there <= 0.0 {
        return String::new();
    }
    let left_out = rows.len().saturating_sub(PLACES);
    let row = |(reason, time): &(&Reason, f64)| {
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&reason_at(**reason, &process.sites)),
            count(reason).map_or_else(|| "–".into(), grouped),
            escaped(&seconds(*time)),
            escaped(&share(time / losses.there)),
        )
    };
    let shown: String = rows.iter().take(PLACES).map(row).collect();
    let more = match left_out {
        0 => String::new(),
        several => {
            format!("<p class=\"hint\">{} with less time.</p>", number(several, "more place"))
        }
    };
    format!(
        "<table class=\"waits\"><thead><tr><th scope=\"col\">threads wait</th>\
         <th scope=\"col\">times</th><th scope=\"col\">together</th><th scope=\"col\">share</th>\
         </tr></thead><tbody>{shown}</tbody></table>{more}"
    )
}

fn adapted(adaptation: &Adaptation) -> String {
    let gained = adaptation.gained.filter(|_| adaptation.reduced > 0).map(|gained| {
        let (class, word) = if gained < 0.0 { ("loss", "lost") } else { ("gain", "gained") };
        let words = format!(
            "About {} {word}, with {} on fewer threads or contexts",
            seconds(gained.abs()),
            executions(adaptation.reduced)
        );
        format!("<p class=\"why\"><b class=\"{class}\">{}</b></p>", escaped(&words))
    });
    let mut lines: Vec<String> = gained.into_iter().collect();
    lines.push(format!("<p class=\"why\">{}</p>", escaped(&adaptation.why)));
    format!(
        "<h4>Adaptation: {}, {}</h4>{}",
        number(adaptation.threads as usize, "thread"),
        escaped(&adaptation.configuration),
        lines.concat()
    )
}

/// Places of a region in its table.
const PLACES: usize = 12;
