//! The report as a page: one file, without anything from elsewhere, that a browser opens.

mod bars;
mod colour;
mod contention;
mod costs;
mod detail;
mod escape;
mod kind;
mod mpi;
mod order;
mod phases;
mod processes;
mod regions;
mod shared;
mod slots;
mod states;
mod summary;
mod tables;
mod threads;
mod timeline;
mod title;
mod tree;
mod verdict;

use super::findings::{self, Finding};
use super::report::{ProcessReport, Report};
use super::text::{seconds, share};
pub(crate) use escape::escaped;
use kind::Kind;
use pacman_events::shown::command_line;

/// The page.
pub(super) fn write(report: &Report) -> String {
    let processes: Vec<&ProcessReport> = report.observed().collect();
    let mut main = summary::heading(report, &processes);
    main.push_str(&processes::overview(report, &processes));
    main.push_str(&mpi::section(report));
    let several = processes.len() + report.left_out > 1;
    for (place, process) in processes.iter().enumerate().take(processes::DETAILED) {
        let content = content(process, place);
        if several {
            let open = if place == 0 { " open" } else { "" };
            main.push_str(&format!(
                "<details class=\"process\" id=\"{}\"{open}><summary><b>{}</b> <span>{}</span> \
                 <span>{} of {} in regions</span></summary>{}{content}</details>",
                title::process_id(place),
                escaped(&title::process(process)),
                escaped(process.program()),
                share(process.share()),
                seconds(process.process.seconds),
                summary::of_process(report, process),
            ));
        } else {
            main.push_str(&content);
        }
    }
    main.push_str(&summary::notes(report, &processes));
    let title = escaped(&command_line(&report.command));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} – regions</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         {main}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Everything about one process: the first screen, and the sections after it.
fn content(process: &ProcessReport, place: usize) -> String {
    if process.regions.is_empty() {
        return format!("<div class=\"content\">{}</div>", phases::section(process));
    }
    let sections = SECTIONS.iter().map(|section| section(process, place));
    // The first screen shows the figures behind the verdict.
    let verdict = verdict::of(&[process]).filter(|verdict| verdict.kind == Kind::Contention);
    let slots = slots::section(process, verdict.as_ref().and_then(|verdict| verdict.region));
    let (first, class, later) = match verdict {
        Some(_) => (&*slots, "first with-slots", ""),
        None => ("", "first", &*slots),
    };
    format!(
        "<div class=\"content\"><div class=\"{class}\">{first}{}{}</div>{later}{}</div>",
        tree::section(process),
        detail::section(process, place),
        sections.collect::<String>()
    )
}

/// The sections of a process after its states and slots, in their order. A section that has nothing to say is empty text.
const SECTIONS: [fn(&ProcessReport, usize) -> String; 8] = [
    |process, _| findings(process),
    timeline::section,
    |process, _| tables::adaptation(process),
    regions::section,
    |process, _| threads::section(process),
    |process, _| tables::counts(process),
    |process, _| tables::energy(process),
    |process, _| phases::section(process),
];

/// The findings, each with the time that it may gain.
fn findings(process: &ProcessReport) -> String {
    let item = |finding: &Finding| {
        format!("<li><b>{}</b> {}</li>", finding.gain(), escaped(&finding.line()))
    };
    let items: String = findings::of(process).iter().map(item).collect();
    if items.is_empty() {
        return items;
    }
    format!(
        "<section class=\"findings\"><h2>Findings, with the time that each may gain</h2><ol>{items}</ol></section>\n"
    )
}

const STYLE: &str = concat!(include_str!("page.css"), include_str!("pictures.css"));
const SCRIPT: &str =
    concat!(include_str!("page.js"), include_str!("sort.js"), include_str!("timeline.js"));

#[cfg(test)]
mod tests;
