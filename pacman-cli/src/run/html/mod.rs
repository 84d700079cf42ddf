//! The report as a page: one file, without anything from elsewhere, that a browser opens.

mod colour;
mod detail;
mod escape;
mod regions;
mod summary;
mod tables;
mod timeline;

use super::report::{ProcessReport, Report};
use super::text::{seconds, share};
pub(crate) use escape::escaped;

/// The page.
pub(super) fn write(report: &Report) -> String {
    let processes: Vec<&ProcessReport> = report.parallel().collect();
    let mut main = summary::heading(report, &processes);
    let several = processes.len() > 1;
    for (place, process) in processes.iter().enumerate() {
        let content = sections(process, place);
        if several {
            let open = if place == 0 { " open" } else { "" };
            main.push_str(&format!(
                "<details class=\"process\"{open}><summary><b>{}</b> <span>process {}</span> \
                 <span>{} of {} in regions</span></summary>{}{content}</details>",
                escaped(process.program()),
                process.process.pid,
                share(process.share()),
                seconds(process.process.seconds),
                summary::of_process(process),
            ));
        } else {
            main.push_str(&content);
        }
    }
    main.push_str(&summary::notes(report, &processes));
    let title = escaped(&report.command.join(" "));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} – regions</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         {main}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

fn sections(process: &ProcessReport, place: usize) -> String {
    [
        timeline::section(process, place),
        tables::adaptation(process),
        regions::section(process, place),
        tables::counts(process),
        tables::energy(process),
    ]
    .concat()
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

#[cfg(test)]
mod tests;
